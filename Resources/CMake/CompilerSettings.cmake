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

# Parsed once a target instead of once a file; no header of the project is among them.
# Each source includes what it uses all the same: clang-tidy reads it without.
set(PERF_PRECOMPILED_HEADERS
  <algorithm> <array> <atomic> <chrono> <cstddef> <cstdint> <cstring> <functional> <map> <memory>
  <mutex> <optional> <stdexcept> <string> <string_view> <utility> <vector> <json/value.h>)
if(PERF_PORTABLE)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)  # tried with gcc and clang only
endif()

if(PERF_SANITIZE)
  target_compile_options(PerfSettings INTERFACE
    -fsanitize=${PERF_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(PerfSettings INTERFACE -fsanitize=${PERF_SANITIZE})
  target_compile_definitions(PerfSettings INTERFACE PERF_SANITIZED)

  # As the sanitizers' manual recommends: fast enough, and it compiles sooner. (What gcc warns of at
  # -O1 depends on what it has inlined.) Lines of source in a report need no more than -g1
  if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1 -DNDEBUG")
  else()
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
  endif()

  # The plugin, the programs that it starts, and an Orthanc that has the runtime preloaded, are to
  # share one: clang's own default is a copy in each program
  if(PERF_SANITIZE MATCHES address AND CMAKE_CXX_COMPILER_ID STREQUAL Clang)
    execute_process(
      COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
      OUTPUT_VARIABLE ASAN_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    get_filename_component(ASAN_FOLDER ${ASAN_RUNTIME} DIRECTORY)
    # (libFuzzer brings libraries that would come before it: a fuzz target has its own copy)
    target_link_options(PerfSettings INTERFACE
      "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:PERF_IS_FUZZ_TARGET>>>:-shared-libasan;-Wl,-rpath,${ASAN_FOLDER}>")
  endif()
endif()

if(PERF_FUZZ)
  # libFuzzer's counters take a third of a compiler's time: not for what no fuzz target is linked with
  target_compile_options(PerfSettings INTERFACE
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:PERF_IS_NOT_FUZZED>>>:-fsanitize=fuzzer-no-link>)
endif()
