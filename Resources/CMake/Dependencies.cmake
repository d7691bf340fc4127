# SPDX-License-Identifier: GPL-3.0-or-later
# What the plugin stands on, from Debian 12 or 13 (Resources/setup.sh installs it).

option(PERF_PORTABLE "Link static libraries alone (Resources/build-portable.sh)" OFF)

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JSONCPP REQUIRED IMPORTED_TARGET jsoncpp)

# The folder that holds orthanc/OrthancCPlugin.h (package orthanc-dev)
find_path(ORTHANC_SDK orthanc/OrthancCPlugin.h REQUIRED)

if(PERF_UNIT_TESTS)
  find_package(GTest QUIET)
  if(NOT GTest_FOUND)
    message(STATUS "The unit tests are left out: no GoogleTest (package libgtest-dev)")
    set(PERF_UNIT_TESTS OFF)  # for this run of CMake; once it is there, they are built
  endif()
endif()

# The codec libraries, each for a program of its own, which is left out without them: libdcmtk-dev
# and libgdcm-dev. Never two of them in one program: they bring incompatible copies of CharLS.
# (dcmdata, with which GDCM's program converts data sets, has no codec.)
if(PERF_PORTABLE)
  include(${CMAKE_SOURCE_DIR}/Resources/Packaging/StaticCodecs.cmake)
else()
  find_path(DCMTK_HEADERS dcmtk/dcmdata/dctk.h)
  find_library(DCMTK_DCMJPLS dcmjpls)
  if(DCMTK_HEADERS AND DCMTK_DCMJPLS)
    add_library(Perf::DCMTK INTERFACE IMPORTED)
    target_include_directories(Perf::DCMTK SYSTEM INTERFACE ${DCMTK_HEADERS})
    target_link_libraries(Perf::DCMTK INTERFACE
      dcmjpeg dcmjpls dcmimage dcmimgle dcmdata oflog ofstd)
  endif()

  # The library that Orthanc's server is built on, for tests only (package liborthancframework-dev)
  if(PERF_UNIT_TESTS AND DCMTK_HEADERS)
    find_path(ORTHANC_FRAMEWORK_HEADERS OrthancFramework.h PATH_SUFFIXES orthanc-framework)
    find_library(ORTHANC_FRAMEWORK OrthancFramework)
    if(ORTHANC_FRAMEWORK_HEADERS AND ORTHANC_FRAMEWORK)
      add_library(Perf::OrthancFramework INTERFACE IMPORTED)
      target_include_directories(Perf::OrthancFramework SYSTEM INTERFACE
        ${ORTHANC_FRAMEWORK_HEADERS} ${DCMTK_HEADERS})
      target_link_libraries(Perf::OrthancFramework INTERFACE
        ${ORTHANC_FRAMEWORK} PkgConfig::JSONCPP dcmdata oflog ofstd)
    else()
      message(STATUS "FrameworkTests are left out: no Framework (package liborthancframework-dev)")
    endif()
  endif()

  find_package(GDCM QUIET CONFIG)
  if(GDCM_FOUND AND DCMTK_HEADERS)
    add_library(Perf::GDCM INTERFACE IMPORTED)
    target_include_directories(Perf::GDCM SYSTEM INTERFACE ${GDCM_INCLUDE_DIRS} ${DCMTK_HEADERS})
    target_link_libraries(Perf::GDCM INTERFACE gdcmMSFF gdcmDSED gdcmCommon dcmdata oflog ofstd)
  endif()
endif()

# Headers alone: SHA-1, of which Orthanc makes its identifiers
find_path(BOOST_UUID boost/uuid/detail/sha1.hpp REQUIRED)
mark_as_advanced(BOOST_UUID)
