# Finds the libraries that Cresset is built on and names them CressetDeps::<name>. Searched for as header and library
# rather than by their own CMake packages, because some of those ask for things that Cresset does not use (oneDNN's wants
# the OpenCL headers). Also installed: whoever links the static library needs the same targets.
include_guard()

function(cresset_find_dependency name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "REQUIRED" "HEADER;LIBRARY;PACKAGE" "SUFFIXES")
  if(TARGET CressetDeps::${name})
    return()
  endif()
  find_path(CRESSET_${name}_INCLUDE ${arg_HEADER} PATH_SUFFIXES ${arg_SUFFIXES})
  find_library(CRESSET_${name}_LIBRARY ${arg_LIBRARY} PATH_SUFFIXES ${arg_SUFFIXES})
  mark_as_advanced(CRESSET_${name}_INCLUDE CRESSET_${name}_LIBRARY)
  if(CRESSET_${name}_INCLUDE AND CRESSET_${name}_LIBRARY)
    add_library(CressetDeps::${name} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(CressetDeps::${name} PROPERTIES
      IMPORTED_LOCATION ${CRESSET_${name}_LIBRARY}
      INTERFACE_INCLUDE_DIRECTORIES ${CRESSET_${name}_INCLUDE})
  elseif(arg_REQUIRED)
    message(FATAL_ERROR "cresset: ${name} was not found (Debian: apt install ${arg_PACKAGE}, or ./x setup)")
  endif()
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)

cresset_find_dependency(highway REQUIRED HEADER hwy/highway.h LIBRARY hwy PACKAGE libhwy-dev)
if(CRESSET_highway_LIBRARY MATCHES "\\.so")
  set_property(TARGET CressetDeps::highway PROPERTY INTERFACE_COMPILE_DEFINITIONS HWY_SHARED_DEFINE)
endif()
cresset_find_dependency(onednn REQUIRED HEADER dnnl.hpp LIBRARY dnnl PACKAGE libdnnl-dev)
# The OpenMP variant, by its own folder: it shares its threads with oneDNN, and the system's default may be another.
cresset_find_dependency(openblas REQUIRED HEADER cblas.h LIBRARY openblas PACKAGE libopenblas-openmp-dev
  SUFFIXES openblas-openmp)
if(CRESSET_FFTW)
  cresset_find_dependency(fftw REQUIRED HEADER fftw3.h LIBRARY fftw3 PACKAGE libfftw3-dev)
  cresset_find_dependency(fftwf REQUIRED HEADER fftw3.h LIBRARY fftw3f PACKAGE libfftw3-dev)
endif()
# For images and compressed files, in a library of their own; a build without them says so when it meets such a file.
cresset_find_dependency(zlib HEADER zlib.h LIBRARY z PACKAGE zlib1g-dev)
cresset_find_dependency(png HEADER png.h LIBRARY png PACKAGE libpng-dev)
cresset_find_dependency(jpeg HEADER jpeglib.h LIBRARY jpeg PACKAGE libjpeg-dev)
# For process groups, which are a library of their own; a build without it leaves them out.
cresset_find_dependency(gloo HEADER gloo/context.h LIBRARY gloo PACKAGE libgloo-dev)
