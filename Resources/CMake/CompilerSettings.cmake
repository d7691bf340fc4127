# SPDX-License-Identifier: GPL-3.0-or-later
# How every target is compiled: C++17, warnings are errors, nothing is exported by default.

add_library(PerfSettings INTERFACE)
add_library(Perf::Settings ALIAS PerfSettings)

set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

target_compile_options(PerfSettings INTERFACE -Wall -Wextra -Werror)

if(PERF_SANITIZE)
  target_compile_options(PerfSettings INTERFACE
    -fsanitize=${PERF_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(PerfSettings INTERFACE -fsanitize=${PERF_SANITIZE})
endif()

if(PERF_FUZZ)
  target_compile_options(PerfSettings INTERFACE -fsanitize=fuzzer-no-link)
endif()
