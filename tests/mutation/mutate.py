#!/usr/bin/env python3
"""Breaks the library on purpose and expects the tests to notice: a gradient, a version check, an error text.

Works on a copy of the sources under build/mutation, which is kept so that the next run compiles little; the tree itself
is only read. First the unbroken copy must pass: a test that fails anyway notices nothing.
"""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PLACE = ROOT / "build" / "mutation"
COPY = PLACE / "source"
BUILD = COPY / "build" / "release"  # as in the tree itself: a compiler cache knows most of it then
LOGS = PLACE / "logs"
TESTS = ["test_autograd", "test_ops"]  # the quick one first
SECONDS = 1800

# what, file, the text as it is, the text that breaks it. All in sources, so that each costs one compilation.
MUTATIONS = [
    ("a gradient formula: mul sends its first factor the gradient with the wrong sign", "cresset/ops/pointwise.cpp",
     "wants(0) ? a.reduce(times_conj(g, other)) : Tensor()", "wants(0) ? a.reduce(neg(times_conj(g, other))) : Tensor()"),
    ("a second derivative: softmax's forgets the product rule's second half", "cresset/ops/softmax.cpp",
     "to_y = mul(gg, sub(g, sum(mul(g, y), dim, true))) - mul(g, sum(mul(gg, y), dim, true));",
     "to_y = mul(gg, sub(g, sum(mul(g, y), dim, true)));"),
    ("a gradient through indices: that of sort goes along the first dimension", "cresset/ops/sort.cpp",
     "return grads(scatter_along(from, indices, g[0], dim));", "return grads(scatter_along(from, indices, g[0], 0));"),
    ("a scale: dropout does not divide what it keeps", "cresset/ops/dropout.cpp",
     "return times(form, x, div(kept(op, x, p, channels), 1 - p));", "return times(form, x, kept(op, x, p, channels));"),
    ("a version check: saved tensors that were changed in place pass", "cresset/autograd/saved.cpp",
     "load(std::memory_order_relaxed) != version_)) changed(node);",
     "load(std::memory_order_relaxed) < version_)) changed(node);"),
    ("a rule of views: views of multi-view ops may be changed in place", "cresset/autograd/views.cpp",
     "if (impl->origin != ViewOrigin::ordinary) refuse_view(op,", "if (impl->origin == ViewOrigin::no_grad) refuse_view(op,"),
    ("memory: a backward keeps what it saved", "cresset/autograd/engine.cpp",
     "\n  if (!options_.retain_graph) node.release_variables();",
     "\n  if (options_.retain_graph) node.release_variables();"),
    ("a post-hook's result is dropped", "cresset/autograd/engine.cpp",
     "for (size_t i = 0; i < outgoing.size(); i++) results[i] = outgoing[i];", ""),
    ("an error text: shapes that do not broadcast, with the sizes exchanged", "cresset/ops/shape_rule.cpp",
     "\" do not broadcast: The size of tensor a (\", x,", "\" do not broadcast: The size of tensor a (\", y,"),
]


def copy_sources():
    """Brings the copy up to date. Files that have not changed keep their times, so that little is compiled."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True, text=True,
                            stdout=subprocess.PIPE).stdout.split("\n")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for name in wanted:
        source, target = ROOT / name, COPY / name
        if target.is_file() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        shutil.copymode(source, target)
    for old in [path for path in COPY.rglob("*") if path.is_file()]:
        if BUILD not in old.parents and old.relative_to(COPY).as_posix() not in wanted:
            old.unlink()


def places_are_there():
    """Whether every text to break stands once in its file, as it must for the check to mean anything."""
    there = True
    for what, file, before, _ in MUTATIONS:
        times = (ROOT / file).read_text(encoding="utf-8").count(before)
        if times != 1:
            print(f"mutate: {what}: the text to break stands {times} times in {file} (expected once)")
            there = False
    return there


def run(log, command, seconds=SECONDS, **options):
    """True if the command succeeds; its output goes to a log."""
    LOGS.mkdir(parents=True, exist_ok=True)
    with open(LOGS / f"{log}.log", "w", encoding="utf-8") as out:
        try:
            return subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                  timeout=seconds, check=False, **options).returncode == 0
        except subprocess.TimeoutExpired:
            out.write(f"\nstopped after {seconds} seconds\n")
            return False


def build(log):
    return run(log, ["cmake", "--build", str(BUILD), "-j", str(os.cpu_count()), "--target", "cresset_runtime", *TESTS])


def first_failure(log):
    for line in (LOGS / f"{log}.log").read_text(encoding="utf-8", errors="replace").split("\n"):
        if line.startswith("[  FAILED  ]"):
            return line.split("]", 1)[1].split(",")[0].strip()
    return "the program died"


def failing_test(log):
    """The first test that fails, or None. The programs stop there."""
    for program in TESTS:
        name = f"{log}-{program}"
        if not run(name, [str(BUILD / "bin" / program), "--gtest_fail_fast", "--gtest_brief=1"]):
            return first_failure(name)
    return None


def check(number, what, file, before, after):
    """Breaks one thing; returns whether the tests noticed."""
    path = COPY / file
    text = path.read_text(encoding="utf-8")
    try:
        path.write_text(text.replace(before, after), encoding="utf-8")
        if not build(f"build-{number}"):
            print(f"  {number}. {what}: does not build, which proves nothing (see {LOGS}/build-{number}.log)")
            return False
        failed = failing_test(f"run-{number}")
    finally:
        path.write_text(text, encoding="utf-8")
    print(f"  {number}. {what}: {'noticed by ' + failed if failed else 'NOT NOTICED'}", flush=True)
    return failed is not None


def main():
    there = places_are_there()
    if not there or sys.argv[1:] == ["--places"]:
        sys.exit(0 if there else 1)
    copy_sources()
    options = ["-DCMAKE_BUILD_TYPE=Release", "-DCRESSET_PYTHON=OFF", "-DCRESSET_BENCHMARKS=OFF", "-DCRESSET_EXAMPLES=OFF"]
    if not run("configure", ["cmake", "-G", "Ninja", "-S", str(COPY), "-B", str(BUILD), *options]):
        sys.exit(f"mutate: the copy cannot be configured (see {LOGS}/configure.log)")
    print("mutate: building a copy and running its tests unbroken", flush=True)
    if not build("build-0"):
        sys.exit(f"mutate: the unbroken copy does not build (see {LOGS}/build-0.log)")
    failed = failing_test("run-0")
    if failed:
        sys.exit(f"mutate: the unbroken copy fails {failed} (see {LOGS}); nothing can be said about broken ones")
    print("mutate: it passes; breaking one thing at a time", flush=True)
    caught = sum(check(number, *mutation) for number, mutation in enumerate(MUTATIONS, 1))
    print(f"mutate: {caught} of {len(MUTATIONS)} caught")
    sys.exit(0 if caught == len(MUTATIONS) else 1)


if __name__ == "__main__":
    main()
