#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds, and runs every test. Goes on after a failure, so that one run
# tells all; the end names what failed, and the exit code is zero only if nothing did.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly VENV=build/venv/bin
readonly FUZZ_RUNS=${PERF_FUZZ_RUNS:-20000}
RESULTS=()
FAILURES=0


# Runs a test, by its name and its command, and notes how it ended
run()
{
  local name=$1 result=ok
  local begin=$SECONDS
  shift
  printf '\n==== %s\n' "$name"
  # In a subshell with its own "errexit": in an "if", bash would switch it off in the function
  set +e
  (
    set -e
    "$@"
  )
  local code=$?
  set -e
  if [[ $code -ne 0 ]]
  then
    result=FAILED
    FAILURES=$((FAILURES + 1))
  fi
  RESULTS+=("$(printf '%-6s  %4d s  %s' "$result" $((SECONDS - begin)) "$name")")
}


list_cpp()
{
  git ls-files --cached --others --exclude-standard '*.cpp' '*.h'
}


# Every file that begins as a shell script
list_scripts()
{
  git ls-files --cached --others --exclude-standard -z -- .ci Resources \
    | xargs -0 grep -lE '^#!.*\b(ba)?sh$'
}


check_scripts()
{
  list_scripts | xargs shellcheck
}


check_python()
{
  "$VENV/ruff" check Resources
  "$VENV/ruff" format --check Resources
}


check_cpp_format()
{
  list_cpp | xargs -r "$VENV/clang-format" --dry-run --Werror
}


# The set of checks grows with each release: .clang-tidy is written for Debian 12's
check_cpp_style()
{
  if ! clang-tidy --version | grep -q 'version 14\.'
  then
    echo "Left out: .clang-tidy is written for clang-tidy 14"
    return
  fi
  run-clang-tidy -quiet -p build -j "$(nproc)" "$PWD/Plugin/.*" 2>&1 \
    | { grep -vE '^clang-tidy-|warnings? generated|^$' || true; }
}


check_exports()
{
  local expected="OrthancPluginFinalize OrthancPluginGetName"
  expected+=" OrthancPluginGetVersion OrthancPluginInitialize"
  local found
  found=$(nm -D --defined-only build/libOrthancPerf.so | awk '{ print $3 }' | LC_ALL=C sort | xargs)
  if [[ $found != "$expected" ]]
  then
    echo "libOrthancPerf.so is to export $expected, but exports $found"
    return 1
  fi
}


check_dashboard()
{
  npm --prefix WebApp run --silent check
  npm --prefix WebApp run --silent test
}


run_unit_tests()
{
  ctest --test-dir "$1" --output-on-failure --no-tests=error --parallel "$(nproc)" --timeout 300 \
    --quiet
}


# run_sanitized FOLDER SANITIZERS: the unit tests, built with them
run_sanitized()
{
  Resources/build.sh "$1" UnitTests -DPERF_SANITIZE="$2"
  run_unit_tests "$1"
}


# ThreadSanitizer of Debian 12 knows no address space with more than 28 random bits, which newer
# kernels use: setarch(8) switches them off for it
run_thread_sanitized()
{
  local fixed=()
  if setarch --addr-no-randomize true 2> /dev/null
  then
    fixed=(setarch --addr-no-randomize)
  fi
  "${fixed[@]}" Resources/build.sh build/tsan UnitTests -DPERF_SANITIZE=thread
  "${fixed[@]}" ctest --test-dir build/tsan --output-on-failure --no-tests=error --quiet \
    --parallel "$(nproc)" --timeout 300
}


run_fuzz_targets()
{
  local source target
  Resources/build.sh build/fuzz FuzzTargets -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
    -DPERF_FUZZ=ON -DPERF_UNIT_TESTS=OFF -DPERF_SANITIZE=address,undefined
  for source in UnitTests/Fuzz/Fuzz*.cpp
  do
    target=$(basename "$source" .cpp)
    echo "$target: $FUZZ_RUNS runs"
    "build/fuzz/$target" -runs="$FUZZ_RUNS" -seed=1 -max_len=65536 -verbosity=0 -print_final_stats=1 \
      -artifact_prefix="build/fuzz/$target-"
  done
}


run_integration_tests()
{
  # For test_sanitized.py
  Resources/build.sh build/asan OrthancPerf -DPERF_SANITIZE=address,undefined
  PERF_PLUGIN=$PWD/build/libOrthancPerf.so "$VENV/pytest" Resources/IntegrationTests
}


Resources/setup.sh
Resources/build.sh build all

run "Shell scripts (shellcheck)" check_scripts
run "Python (ruff)" check_python
run "C++ layout (clang-format)" check_cpp_format
run "C++ style (clang-tidy)" check_cpp_style
run "Exported symbols" check_exports
run "Dashboard (types, unit tests)" check_dashboard
run "Unit tests" run_unit_tests build
run "Unit tests, address and undefined-behaviour sanitizers" \
  run_sanitized build/asan address,undefined
run "Unit tests, thread sanitizer" run_thread_sanitized
if compgen -G 'UnitTests/Fuzz/Fuzz*.cpp' > /dev/null
then
  run "Fuzz targets" run_fuzz_targets
fi
run "Integration tests" run_integration_tests

printf '\n==== Summary, after %d s\n' "$SECONDS"
printf '%s\n' "${RESULTS[@]}"
if [[ $FAILURES -gt 0 ]]
then
  echo "$FAILURES of ${#RESULTS[@]} FAILED"
  exit 1
fi
echo "All ${#RESULTS[@]} passed"
