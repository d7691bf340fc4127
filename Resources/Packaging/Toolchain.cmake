# SPDX-License-Identifier: GPL-3.0-or-later
# How build-portable.sh compiles everything: for the old C library that its wrappers "cc" and "c++" in
# PORTABLE/bin aim at, and with nothing of this machine but what it has put into PORTABLE/prefix.

get_filename_component(PORTABLE "$ENV{PERF_PORTABLE_FOLDER}" ABSOLUTE)
set(PORTABLE_ARCHITECTURE $ENV{PERF_PORTABLE_ARCHITECTURE})

if(NOT PORTABLE_ARCHITECTURE STREQUAL CMAKE_HOST_SYSTEM_PROCESSOR)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR ${PORTABLE_ARCHITECTURE})
endif()

set(CMAKE_C_COMPILER ${PORTABLE}/bin/cc)
set(CMAKE_CXX_COMPILER ${PORTABLE}/bin/c++)
set(CMAKE_AR ${PORTABLE}/bin/ar CACHE FILEPATH "")
set(CMAKE_RANLIB ${PORTABLE}/bin/ranlib CACHE FILEPATH "")

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
# What nobody calls, and names that only a debugger asks for, are most of a static library
foreach(kind EXE MODULE SHARED)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT "-Wl,--gc-sections")
endforeach()

set(CMAKE_FIND_ROOT_PATH ${PORTABLE}/prefix)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_LIBDIR} ${PORTABLE}/prefix/lib/pkgconfig)
