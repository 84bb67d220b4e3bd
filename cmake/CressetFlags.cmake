# Compiler flags. Warnings hold for everything in the tree; cresset_library_flags() adds what the libraries need:
# hidden symbols, and thread-local variables and calls that cost no look-up.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# All libraries and programs of a build lie together, as they do when installed: libcresset.so finds the libraries that
# it loads on demand in its own folder.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

find_program(CRESSET_CCACHE ccache)
mark_as_advanced(CRESSET_CCACHE)
if(CRESSET_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CRESSET_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CRESSET_CCACHE})
endif()

add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>)
# Instrumented code makes GCC warn of what is not there: the other builds judge.
if(PROJECT_IS_TOP_LEVEL AND NOT CRESSET_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()

if(CRESSET_SANITIZE)
  add_compile_options(-fsanitize=${CRESSET_SANITIZE} -fno-sanitize-recover=all)
  # Null pointers fault anyway and the address sanitizer knows the objects' sizes; these checks, and those of alignment but
  # where bytes of files become numbers (cresset_bytes_flags), take a third of the compile time.
  if(CRESSET_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize=null,vptr,object-size,alignment,pointer-overflow)
  endif()
  # Checks as calls, not inline: slower to run, much quicker to compile.
  if(CRESSET_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(--param=asan-instrumentation-with-call-threshold=0)
  endif()
  add_link_options(-fsanitize=${CRESSET_SANITIZE})
endif()

# Relocations of pointers in tables take a bit each in place of 24 bytes: 0.3 MB of libcresset.so. The loader of glibc
# reads them since 2.36.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LINK_OPTIONS LINKER:-z,pack-relative-relocs)
check_cxx_source_compiles("#include <cstdlib>
  #if !__GLIBC_PREREQ(2, 36)
  #error \"the loader does not know them\"
  #endif
  int main() {}" CRESSET_PACKED_RELOCATIONS)
unset(CMAKE_REQUIRED_LINK_OPTIONS)

function(cresset_library_flags target)
  # No macro <target>_EXPORTS: the static library's objects are compiled alike, and a compiler cache serves both.
  set_target_properties(${target} PROPERTIES
    DEFINE_SYMBOL ""
    CXX_VISIBILITY_PRESET hidden
    CUDA_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-ftls-model=initial-exec>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-plt>
    $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
  if(BUILD_SHARED_LIBS AND NOT CRESSET_SANITIZE)
    target_link_options(${target} PRIVATE LINKER:--as-needed LINKER:-z,defs LINKER:-O1)
    if(CRESSET_PACKED_RELOCATIONS)
      target_link_options(${target} PRIVATE LINKER:-z,pack-relative-relocs)
    endif()
  endif()
endfunction()

# Highway builds each kernel once per target: SSE4, AVX2 and AVX3 (AVX-512). Naming SSE4 the baseline leaves out the scalar
# target without letting the compiler use SSE4 elsewhere. Sanitizer builds make do with the baseline alone, which is
# much quicker to compile.
function(cresset_simd_flags)
  set(definitions "")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(APPEND definitions "HWY_DISABLED_TARGETS=(HWY_SSSE3|HWY_AVX3_DL)" HWY_BASELINE_TARGETS=HWY_SSE4)
  endif()
  if(CRESSET_SANITIZE)
    list(APPEND definitions HWY_COMPILE_ONLY_STATIC=1)
    # At -O1 the compiler takes the intrinsics' own "undefined" vectors for mistakes.
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_DEFINITIONS ${definitions})
endfunction()

# Code that hands work on to ops, or reads and writes a file's structure, is compiled for size in a release: no loop over
# elements is in it, and it becomes smaller by about 40 %.
function(cresset_size_flags)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-Os>)
endfunction()

# Sources that read numbers out of bytes.
function(cresset_bytes_flags)
  if(CRESSET_SANITIZE MATCHES "undefined")
    set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -fsanitize=alignment,pointer-overflow)
  endif()
endfunction()

# cresset_join(RESULT NAME SOURCES...): files in the build tree that include about eight of the sources each; RESULT lists them.
# What the sources include is then read once for all, which halves the time to compile them (a third of it for nn). Their names
# without linkage share one namespace, so two files of a room may not use one for different things. A group begins where a
# source's own name says so: a new source changes one group, and all others stay as they were compiled.
# CRESSET_JOIN=OFF gives the sources back as they are: for working on them, and for tools that want one command a file.
function(cresset_join result name)
  if(NOT CRESSET_JOIN)
    set(${result} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(joined "")
  set(text "")
  set(first "")
  set(count 0)
  set(sources ${ARGN})
  list(SORT sources)
  list(APPEND sources "")
  foreach(source IN LISTS sources)
    if(source)
      cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    endif()
    string(MD5 digest "${source}")
    if(count GREATER 0 AND (NOT source OR count EQUAL 12 OR digest MATCHES "^[01]"))
      set(file ${PROJECT_BINARY_DIR}/joined/${name}.${first}.cpp)
      file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
      list(APPEND joined ${file})
      set(text "")
      set(count 0)
    endif()
    if(source)
      if(count EQUAL 0)
        string(MAKE_C_IDENTIFIER "${source}" first)
      endif()
      string(APPEND text "#include \"${source}\"\n")
      math(EXPR count "${count} + 1")
    endif()
  endforeach()
  set(${result} ${joined} PARENT_SCOPE)
endfunction()
