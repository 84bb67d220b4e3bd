# What `cmake --install` gives: headers, libraries, a CMake package (find_package(cresset)) and pkg-config (cresset.pc).
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/cresset)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/cresset DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.inc" PATTERN "missing" EXCLUDE)
install(TARGETS ${cresset_installed_targets} EXPORT cressetTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT cressetTargets NAMESPACE cresset:: DESTINATION ${package_folder})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/cressetConfig.cmake.in
  ${PROJECT_BINARY_DIR}/cressetConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cressetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cressetConfig.cmake ${PROJECT_BINARY_DIR}/cressetConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/CressetDependencies.cmake DESTINATION ${package_folder})

if(BUILD_SHARED_LIBS)
  set(pc_libs "-L\${libdir} -lcresset")
else()
  set(pc_libs "-Wl,--whole-archive,\${libdir}/libcresset.a,--no-whole-archive")
  set(pc_dependencies highway onednn openblas)
  if(CRESSET_FFTW)
    list(APPEND pc_dependencies fftw fftwf)
  endif()
  foreach(dependency IN LISTS pc_dependencies)
    cmake_path(GET CRESSET_${dependency}_LIBRARY PARENT_PATH folder)
    string(APPEND pc_libs " ${CRESSET_${dependency}_LIBRARY}")
    if(dependency STREQUAL "openblas")
      string(APPEND pc_libs " -Wl,-rpath,${folder}")
    endif()
  endforeach()
  foreach(dependency IN ITEMS zlib png jpeg)
    if(TARGET CressetDeps::${dependency})
      string(APPEND pc_libs " ${CRESSET_${dependency}_LIBRARY}")
    endif()
  endforeach()
  if(CRESSET_HAS_BACKTRACE)
    string(APPEND pc_libs " -lbacktrace")
  endif()
  string(APPEND pc_libs " -pthread")
  if(CMAKE_DL_LIBS)
    string(APPEND pc_libs " -l${CMAKE_DL_LIBS}")
  endif()
  string(APPEND pc_libs " ${OpenMP_CXX_FLAGS}")
endif()
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY
  ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE pc_prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/cresset.pc.in ${PROJECT_BINARY_DIR}/cresset.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cresset.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
