# The libraries:
#   cresset              tensors, ops, autograd, the training stack
#   cresset_dnn          kernels that call oneDNN and OpenBLAS; libcresset.so loads it on the first heavy call, so that a small
#                        program starts in milliseconds
#   cresset_image        PNG, JPEG and gzip through their libraries, loaded at the first such file
#   cresset_cuda         the CUDA kernels, loaded on demand
#   cresset_distributed  process groups; a library of its own, so that only its users load Gloo
#   cresset_mpi          bytes over MPI, loaded by cresset_distributed for the backend "mpi"
# A static build puts the first three into one libcresset.a. Its target `cresset` then stands for the whole archive: ops and
# kernels register themselves, and a linker that takes only what is named would drop them.

set(rooms core autograd ops amp nn optim data io compile monitor)
if(NOT CRESSET_TRAINING)
  list(REMOVE_ITEM rooms nn optim monitor)
endif()
list(TRANSFORM rooms REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/cresset/\\1/*.cpp" OUTPUT_VARIABLE room_globs)
file(GLOB_RECURSE cresset_sources CONFIGURE_DEPENDS ${room_globs})
list(FILTER cresset_sources EXCLUDE REGEX "/cresset/io/codecs/")
file(GLOB cresset_cpu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cresset/backends/cpu/*.cpp)
file(GLOB cresset_dnn_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cresset/backends/cpu/dnn/*.cpp)
# Two sources of the same kernels.
if(CRESSET_FFTW)
  list(FILTER cresset_cpu_sources EXCLUDE REGEX "/cpu/fft\\.cpp$")
else()
  list(FILTER cresset_dnn_sources EXCLUDE REGEX "/dnn/fftw\\.cpp$")
endif()
file(GLOB cresset_cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cresset/backends/cuda/*.cu)
file(GLOB_RECURSE cresset_distributed_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cresset/distributed/*.cpp)
if(NOT CRESSET_TRAINING)
  list(FILTER cresset_distributed_sources EXCLUDE REGEX "/(ddp|join|drift|drift_watch|sync_batch_norm)\\.cpp$")
endif()
set(cresset_mpi_sources ${cresset_distributed_sources})
list(FILTER cresset_mpi_sources INCLUDE REGEX "/cresset/distributed/mpi/mpi_transport")
list(FILTER cresset_distributed_sources EXCLUDE REGEX "/cresset/distributed/mpi/mpi_transport")

set(cresset_dnn_dependencies OpenMP::OpenMP_CXX CressetDeps::onednn CressetDeps::openblas)
if(CRESSET_FFTW)
  list(APPEND cresset_dnn_dependencies CressetDeps::fftw CressetDeps::fftwf)
endif()

# One codec, one dependency, one file.
set(cresset_image_sources "")
set(cresset_image_dependencies "")
foreach(codec IN ITEMS zlib png jpeg)
  if(TARGET CressetDeps::${codec})
    list(APPEND cresset_image_sources ${PROJECT_SOURCE_DIR}/cresset/io/codecs/${codec}.cpp)
    list(APPEND cresset_image_dependencies CressetDeps::${codec})
  endif()
endforeach()

if(cresset_cpu_sources OR cresset_dnn_sources)
  cresset_simd_flags(${cresset_cpu_sources} ${cresset_dnn_sources})
endif()

# Compiled for size. Left out: what runs for every module or parameter in each step of training (a step of Adam became
# slower by 25 %, a Sequential of small layers by 5 %), and io's loops over bytes.
set(cresset_small_sources ${cresset_sources})
list(FILTER cresset_small_sources INCLUDE REGEX "/cresset/(nn|optim/schedulers|io|monitor)/")
list(FILTER cresset_small_sources EXCLUDE REGEX
  "/cresset/nn/((any_)?module[a-z_]*|containers/sequential|functional/activation|layers/(activation|linear|rnn))\\.cpp$")
list(FILTER cresset_small_sources EXCLUDE REGEX "/cresset/io/(bytes|checksum|csv|gzip|idx|image|npy)\\.cpp$")
# Of distributed: the stores, the agreement on who is there, and what explains a failure.
set(cresset_small_distributed_sources ${cresset_distributed_sources})
list(FILTER cresset_small_distributed_sources EXCLUDE REGEX
  "/cresset/distributed/(algorithms|movements|reduce|reducer|direct_memory|drift|mesh_[a-z_]+|work|sync_batch_norm|comm_hooks)\\.cpp$")

set(cresset_small_sources ${cresset_small_sources} ${cresset_small_distributed_sources})
cresset_size_flags(${cresset_small_sources})

set(cresset_bytes_sources ${cresset_sources})
list(FILTER cresset_bytes_sources INCLUDE REGEX "/cresset/(core|io)/")
cresset_bytes_flags(${cresset_bytes_sources})

# Joins the files of one room in a list of sources, those for size apart from the others.
function(cresset_join_room list room)
  set(rest ${${list}})
  set(fast ${rest})
  list(FILTER fast INCLUDE REGEX "/cresset/${room}/")
  list(FILTER fast EXCLUDE REGEX "/ops/kernels\\.cpp$")  # reads the headers of ops in a way of its own
  list(REMOVE_ITEM rest ${fast})
  set(small "")
  foreach(source IN LISTS fast)
    if(source IN_LIST cresset_small_sources)
      list(APPEND small ${source})
    endif()
  endforeach()
  list(REMOVE_ITEM fast ${small})
  cresset_join(fast ${room} ${fast})
  cresset_join(small ${room}_small ${small})
  cresset_size_flags(${small})
  set(${list} ${rest} ${fast} ${small} PARENT_SCOPE)
endfunction()
foreach(room IN ITEMS ops nn optim data monitor autograd)
  cresset_join_room(cresset_sources ${room})
endforeach()
cresset_join_room(cresset_distributed_sources distributed)

set_source_files_properties(${PROJECT_SOURCE_DIR}/cresset/core/version.cpp PROPERTIES
  COMPILE_DEFINITIONS "CRESSET_VERSION=\"${PROJECT_VERSION}\"")

function(cresset_public_interface target scope)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} ${scope} Threads::Threads)
endfunction()

set(cresset_installed_targets "")
if(BUILD_SHARED_LIBS)
  add_library(cresset SHARED ${cresset_sources} ${cresset_cpu_sources})
  set(cresset_target cresset)
  set_target_properties(cresset PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
else()
  # Compiled with the flags of the shared libraries, so that a compiler cache serves both.
  add_library(cresset_loaded_objects OBJECT ${cresset_dnn_sources} ${cresset_image_sources})
  cresset_library_flags(cresset_loaded_objects)
  cresset_public_interface(cresset_loaded_objects PUBLIC)
  set(loaded_dependencies ${cresset_dnn_dependencies} ${cresset_image_dependencies})
  target_link_libraries(cresset_loaded_objects PRIVATE ${loaded_dependencies} CressetDeps::highway)
  add_library(cresset_archive STATIC ${cresset_sources} ${cresset_cpu_sources} $<TARGET_OBJECTS:cresset_loaded_objects>)
  set(cresset_target cresset_archive)
  set_target_properties(cresset_archive PROPERTIES OUTPUT_NAME cresset)
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/cresset/core/backend_loader.cpp APPEND PROPERTY
    COMPILE_DEFINITIONS CRESSET_DNN_STATIC=1)
  list(TRANSFORM loaded_dependencies REPLACE "(.+)" "$<LINK_ONLY:\\1>")
  target_link_libraries(cresset_archive PRIVATE ${loaded_dependencies})
  list(APPEND cresset_installed_targets cresset_archive)

  # By its full name, which holds in this build and in the installed package.
  add_library(cresset::cresset_archive ALIAS cresset_archive)
  add_library(cresset INTERFACE)
  target_link_libraries(cresset INTERFACE $<LINK_LIBRARY:WHOLE_ARCHIVE,cresset::cresset_archive>)
endif()
add_library(cresset::cresset ALIAS cresset)
list(APPEND cresset_installed_targets cresset)
cresset_library_flags(${cresset_target})
cresset_public_interface(${cresset_target} PUBLIC)
target_link_libraries(${cresset_target} PRIVATE CressetDeps::highway ${CMAKE_DL_LIBS})
# GCC brings libbacktrace along: with it anomaly mode names files and lines. Part of the compiler, so no package of its own.
include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES backtrace)
check_cxx_source_compiles("#include <backtrace.h>\nint main() { return !backtrace_create_state(0, 1, 0, 0); }"
  CRESSET_HAS_BACKTRACE)
unset(CMAKE_REQUIRED_LIBRARIES)
if(CRESSET_HAS_BACKTRACE)
  target_compile_definitions(${cresset_target} PRIVATE CRESSET_HAS_BACKTRACE=1)
  target_link_libraries(${cresset_target} PRIVATE backtrace)
endif()
set_target_properties(${cresset_target} PROPERTIES
  LINKER_LANGUAGE CXX BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
if(CRESSET_LLVM)
  target_compile_definitions(${cresset_target} PRIVATE CRESSET_LLVM=1)
  target_include_directories(${cresset_target} SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_link_libraries(${cresset_target} PRIVATE LLVM)
endif()

# Whatever cresset loads at run time; programs that are run from the build tree depend on it.
add_custom_target(cresset_runtime)
add_dependencies(cresset_runtime ${cresset_target})

# A library that libcresset.so loads on demand. It lies beside it, and its name carries no version.
function(cresset_add_loadable name)
  add_library(${name} MODULE ${ARGN})
  cresset_library_flags(${name})
  target_link_libraries(${name} PRIVATE cresset)
  set_target_properties(${name} PROPERTIES PREFIX lib BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
  add_dependencies(cresset_runtime ${name})
  install(TARGETS ${name} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

if(cresset_dnn_sources AND BUILD_SHARED_LIBS)
  cresset_add_loadable(cresset_dnn ${cresset_dnn_sources})
  target_link_libraries(cresset_dnn PRIVATE ${cresset_dnn_dependencies} CressetDeps::highway)
  # The loader would otherwise take the system's default OpenBLAS, which has threads of its own.
  cmake_path(GET CRESSET_openblas_LIBRARY PARENT_PATH openblas_folder)
  set_target_properties(cresset_dnn PROPERTIES INSTALL_RPATH "$ORIGIN;${openblas_folder}")
endif()

if(cresset_image_sources AND BUILD_SHARED_LIBS)
  cresset_add_loadable(cresset_image ${cresset_image_sources})
  target_link_libraries(cresset_image PRIVATE ${cresset_image_dependencies})
endif()

if(CRESSET_CUDA AND cresset_cuda_sources)
  if(NOT BUILD_SHARED_LIBS)
    message(FATAL_ERROR "CRESSET_CUDA=ON needs shared libraries")
  endif()
  cresset_add_loadable(cresset_cuda ${cresset_cuda_sources})
  # nvcc does not know the tls_model attribute, and finds thread-local variables the slower way.
  target_compile_options(cresset_cuda PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-diag-suppress=1835>)
endif()

if(cresset_distributed_sources)
  if(TARGET CressetDeps::gloo)
    add_library(cresset_distributed ${cresset_distributed_sources})
    add_library(cresset::distributed ALIAS cresset_distributed)
    cresset_library_flags(cresset_distributed)
    set_target_properties(cresset_distributed PROPERTIES
      EXPORT_NAME distributed BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN"
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
    target_link_libraries(cresset_distributed PUBLIC cresset PRIVATE CressetDeps::gloo)
    # A header of Gloo's that its packages leave out.
    target_include_directories(cresset_distributed PRIVATE ${PROJECT_SOURCE_DIR}/cresset/distributed/gloo/missing)
    # A library of its own, loaded for the backend "mpi": programs that do not use MPI must not load it.
    if(CRESSET_MPI AND BUILD_SHARED_LIBS AND cresset_mpi_sources)
      cresset_add_loadable(cresset_mpi ${cresset_mpi_sources})
      target_link_libraries(cresset_mpi PRIVATE cresset_distributed MPI::MPI_CXX)
    endif()
    if(CRESSET_GRPC)
      target_compile_definitions(cresset_distributed PRIVATE CRESSET_GRPC=1)
      target_link_libraries(cresset_distributed PRIVATE gRPC::grpc++)
    endif()
    list(APPEND cresset_installed_targets cresset_distributed)
  endif()
endif()
