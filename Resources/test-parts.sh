#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# test-parts.sh PART: what Resources/CMake/TestParts.cmake has ctest(1) run, after a build; what it says
# goes to build/test-run/PART.log as well. CONTRIBUTING.md says what each part finds.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly VENV=build/venv/bin
readonly LOGS=build/test-run
readonly COMMITS_IN_STYLE=20  # on "main", whose files `style` looks at
# test_NAME.py: each phase, count, answer and engine once
readonly FEW=(counts duplicates history metrics origins phases probe_off retrieving transcoding_jobs)


# Every file that begins as a shell script
part_scripts()
{
  git ls-files --cached --others --exclude-standard -z -- .ci Resources \
    | xargs -0 grep -lE '^#!.*\b(ba)?sh$' | xargs shellcheck
}


part_python()
{
  "$VENV/ruff" check Resources
  "$VENV/ruff" format --check Resources
}


part_layout()
{
  git ls-files --cached --others --exclude-standard '*.cpp' '*.h' \
    | xargs -r "$VENV/clang-format" --dry-run --Werror
}


# The set of checks grows with each release: .clang-tidy is written for Debian 12's
part_style()
{
  local files=() base
  if ! clang-tidy --version | grep -q 'version 14\.'
  then
    echo "Left out: .clang-tidy is written for clang-tidy 14"
    return
  fi
  if [[ -z ${PERF_LONG:-} ]] && base=$(find_base)
  then
    mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'Plugin/*.cpp' 'Plugin/*.h'
      git ls-files --others --exclude-standard 'Plugin/*.cpp' 'Plugin/*.h')
  else
    mapfile -t files < <(git ls-files --cached --others --exclude-standard 'Plugin/*.cpp')
  fi
  Resources/run-clang-tidy.py build "${files[@]}"
}


# Where this branch left "main", or, on "main" itself, some commits ago; fails if the clone has neither
find_base()
{
  local base
  base=$(git merge-base HEAD main 2> /dev/null || git merge-base HEAD origin/main 2> /dev/null) || base=
  if [[ -z $base || $base == "$(git rev-parse HEAD)" ]]
  then
    base=$(git rev-parse --verify --quiet "HEAD~$COMMITS_IN_STYLE") || return 1
  fi
  git diff --quiet "$base" -- .clang-tidy || return 1  # new checks are for all files
  echo "$base"
}


part_names()
{
  Resources/check-class-names.py Plugin UnitTests
  if [[ -n ${PERF_LONG:-} ]]
  then
    # The linker sees all that was compiled, and compares member by member
    Resources/build.sh build/odr OrthancPerf -DPERF_UNIT_TESTS=OFF -DPERF_DASHBOARD=OFF \
      -DCMAKE_CXX_FLAGS="-flto=auto -Wodr -Werror=odr"
  fi
}


part_exports()
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


part_dashboard()
{
  npm --prefix WebApp run --silent check
  npm --prefix WebApp run --silent test
}


part_unit()
{
  build/NonPieHost build/libNonPieProbe.so
  build/FrameworkTests --gtest_brief=1
  run_shards build/UnitTests
}


# run_shards PROGRAM: all its tests, in as many processes as there are processors
run_shards()
{
  local index jobs=() failures=0
  for ((index = 0; index < $(nproc); index++))
  do
    GTEST_TOTAL_SHARDS=$(nproc) GTEST_SHARD_INDEX=$index "$@" --gtest_brief=1 &
    jobs+=($!)
  done
  for index in "${jobs[@]}"
  do
    wait "$index" || failures=$((failures + 1))
  done
  return $((failures > 0))
}


# Most of what the thread sanitizer can see is in tests that start threads, or use what does
part_sanitized-build()
{
  local expression='std::(thread|async)|PeriodicTask|EngineDirectory|WorkerEngine'
  if [[ -n ${PERF_LONG:-} ]]
  then
    expression=
  fi
  Resources/build.sh build/asan all -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
    -DPERF_FUZZ=ON -DPERF_DASHBOARD=OFF -DPERF_SANITIZE=address,undefined
  without_random_addresses Resources/build.sh build/tsan UnitTests -DPERF_SANITIZE=thread \
    -DPERF_UNIT_TESTS_WITH="$expression"
}


# ThreadSanitizer of Debian 12 knows no address space with more than 28 random bits, which newer
# kernels use: setarch(8) switches them off for it
without_random_addresses()
{
  if setarch --addr-no-randomize true 2> /dev/null
  then
    setarch --addr-no-randomize "$@"
  else
    "$@"
  fi
}


part_sanitizers()
{
  local failures=0
  run_shards build/asan/UnitTests || failures=1
  "$VENV/python" Resources/run-fuzz-targets.py brief || failures=1
  return "$failures"
}


part_fuzz()
{
  "$VENV/python" Resources/run-fuzz-targets.py long "${PERF_FUZZ_SECONDS:-60}" "$LOGS/fuzz"
}


part_threads()
{
  run_shards without_random_addresses build/tsan/UnitTests
}


# run_pytest ARGUMENTS...
run_pytest()
{
  # Wide enough for the reasons in its summary
  COLUMNS=200 PERF_PLUGIN=$PWD/build/libOrthancPerf.so "$VENV/pytest" --durations=10 "$@"
}


# They wait more than they compute: two for each processor
part_integration()
{
  unset PERF_SOAK  # which is for the part of that name
  run_pytest -m "not alone and not pair" --numprocesses $((2 * $(nproc))) --dist loadscope \
    --no-loadscope-reorder Resources/IntegrationTests
}


part_few()
{
  # shellcheck disable=SC2046 # no name has a space in it
  run_pytest -m "not alone and not pair" --numprocesses $((2 * $(nproc))) --dist loadscope \
    $(printf 'Resources/IntegrationTests/test_%s.py ' "${FEW[@]}")
}


# What a busy machine disturbed once is measured again; a fault fails twice
part_pairs()
{
  run_pytest -m "pair and not alone" --numprocesses 2 --dist loadscope --reruns 1 \
    Resources/IntegrationTests
}


part_alone()
{
  run_pytest -m alone --reruns 1 Resources/IntegrationTests
}


part_soak()
{
  local seconds=1200
  if [[ -n ${PERF_LONG:-} ]]
  then
    seconds=7200
  fi
  PERF_SOAK=${PERF_SOAK:-$seconds} PERF_SOAK_RESULTS=${PERF_SOAK_RESULTS:-$PWD/$LOGS/soak} \
    run_pytest Resources/IntegrationTests/test_soak.py
}


"part_$1" 2>&1 | tee "$LOGS/$1.log"
