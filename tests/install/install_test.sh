#!/usr/bin/env bash
# Installs a build and builds a small program against it, with CMake and with pkg-config, shared and static.
# usage: install_test.sh BUILD_FOLDER (of a shared build); the static library is built beside it, as deep, so that a compiler
# cache with relative paths serves it from the shared build's objects, and kept for the next run.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
shared_build=$(cd "$1" && pwd)
static_build=$shared_build-static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build_static() {
  cmake -S "$root" -B "$static_build" -G Ninja -DBUILD_SHARED_LIBS=OFF -DCMAKE_BUILD_TYPE=Release \
    -DCRESSET_TESTS=OFF -DCRESSET_BENCHMARKS=OFF -DCRESSET_EXAMPLES=OFF -DCRESSET_PYTHON=OFF
  cmake --build "$static_build"
}

# Prints what it runs, keeps quiet while all is well, and shows the output of what failed.
check() {
  local name=$1
  shift
  if "$@" >"$work/log" 2>&1; then
    echo "ok   $name"
  else
    cat "$work/log"
    echo "FAIL $name"
    exit 1
  fi
}

with_cmake() {
  local prefix=$1 build=$2
  cmake -S "$here/consumer" -B "$build" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
  cmake --build "$build"
  "$build/consumer"
}

with_pkg_config() {
  local prefix=$1 program=$2 pc
  pc=$(dirname "$(find "$prefix" -name cresset.pc)")
  # shellcheck disable=SC2046
  PKG_CONFIG_PATH=$pc "${CXX:-g++}" -std=c++20 "$here/consumer/main.cpp" -o "$program" \
    $(PKG_CONFIG_PATH=$pc pkg-config --cflags --libs cresset) -Wl,-rpath,"$(dirname "$pc")"
  "$program"
}

# The launcher and the process groups, where they are part of the build.
with_launcher() {
  local prefix=$1 build=$2
  "$prefix/bin/cresset" --help >/dev/null
  [[ -x $prefix/bin/cresset-run ]] || { echo "no launcher"; return 0; }
  timeout 60 "$prefix/bin/cresset-run" --nproc-per-node 2 "$build/workers"
}

# Installed libraries find each other from wherever they lie: no path of the build tree may be left in them.
no_build_paths() {
  local library
  for library in $(find "$1" -name '*.so'); do
    if readelf -d "$library" | grep -E 'R(UN)?PATH' | grep -F "$root"; then return 1; fi
  done
}

check "static library" build_static
for kind in shared static; do
  build=${kind}_build
  prefix=$work/$kind
  check "$kind install" cmake --install "${!build}" --prefix "$prefix"
  check "$kind library paths" no_build_paths "$prefix"
  check "$kind consumer with CMake" with_cmake "$prefix" "$work/$kind-cmake"
  check "$kind workers with the launcher" with_launcher "$prefix" "$work/$kind-cmake"
  check "$kind consumer with pkg-config" with_pkg_config "$prefix" "$work/$kind-consumer"
done
