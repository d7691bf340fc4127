# SPDX-License-Identifier: GPL-3.0-or-later
# What the plugin stands on, from Debian 12 or 13 (Resources/setup.sh installs it).

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(JSONCPP REQUIRED IMPORTED_TARGET jsoncpp)
find_package(prometheus-cpp CONFIG REQUIRED COMPONENTS core)

# The folder that holds orthanc/OrthancCPlugin.h (package orthanc-dev)
find_path(ORTHANC_SDK orthanc/OrthancCPlugin.h REQUIRED)

if(PERF_UNIT_TESTS)
  find_package(GTest REQUIRED)
endif()
