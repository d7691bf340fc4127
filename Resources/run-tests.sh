#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds, and runs the tests that a change must pass. ctest(1) runs the
# parts by Resources/CMake/TestParts.cmake, and goes on after a failure. The end shows the reason of
# each failure. The exit code is zero only if nothing failed. CONTRIBUTING.md
# says what each part is for.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly LOGS=build/test-run  # what each part said: PART.log


usage()
{
  cat << END
Usage: $0 [--long | quick] [PART...]

Installs what is missing, builds, and runs the tests that a change must pass, or only these parts:

  scripts          shell scripts (shellcheck)
  python           Python (ruff)
  layout           C++ layout (clang-format)
  style            C++ style (clang-tidy) of files that differ from "main", or on it from 20 commits ago
  names            each class is defined once
  exports          the plugin exports Orthanc's four functions
  dashboard        the dashboard's types and unit tests
  unit             unit tests
  sanitized-build  what sanitizers, threads and pairs run
  sanitizers       unit tests and fuzz targets with address and undefined-behaviour sanitizers
  threads          unit tests of what threads share, with the thread sanitizer
  integration      a real Orthanc, tests side by side
  pairs            a real Orthanc, tests that measure waits, two at a time
  alone            a real Orthanc, tests that measure time, one after the other
  few              only by name, or with quick: some forty tests of "integration"
  fuzz             only with --long, or by name: each fuzz target for an hour, or a minute by name
  soak             only with --long, or by name: everything at once, for two hours, or 20 minutes

  quick        while one works on a change, five minutes: layout names unit few
  --long       as before a release, a day: clang-tidy for all files, all unit tests with the
               thread sanitizer, classes compared by the linker, 1,000 live switches of the engine,
               hundreds of kills and power cuts, whose outcome is kept in
               build/test-run/reliability, and the last two parts. The end names what was left out,
               such as other releases of Orthanc, as nobody has made a root file system for it
END
}


# What the log says of failures: the lines that test programs mark, or else its end
show_reasons()
{
  local marks='^E  |^(FAILED|ERROR) |^(ERROR|SUMMARY): |: (fatal )?(error|warning|runtime error): '
  marks+='|: Failure$|^\[  FAILED|\(Failed\)|\(Timeout\)| FAIL |AssertionError|has not ended within'
  if [[ ! -e $LOGS/$1.log ]]
  then
    echo "It was not run, as what it needs has failed"
  elif grep -qE "$marks" "$LOGS/$1.log"
  then
    grep -E -A 3 "$marks" "$LOGS/$1.log" | tail -n 30
  else
    tail -n 30 "$LOGS/$1.log"
  fi
}


# By what pytest, GoogleTest and vitest say at their end
count_tests()
{
  sed 's/\x1b\[[0-9;]*m//g' "$@" | awk '
    # All numbers of "1 failed, 3 passed" count
    function count(line,   words, n, i)
    {
      n = split(line, words, /[ ,|]+/)
      for (i = 2; i <= n; i++)
      {
        if (words[i] == "passed") passed += words[i - 1]
        if (words[i] ~ /^(failed|errors?)$/) failed += words[i - 1]
        if (words[i] == "skipped") skipped += words[i - 1]
      }
    }
    /^=+ .* in [0-9.]+s/ || /^ +Tests +[0-9]/ { count($0) }
    /^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
    END { printf "%d tests passed, %d failed, %d skipped\n", passed, failed, skipped }'
}


# What --long has not tried, as nobody has made it: a skipped test is one of many in a log that
# nobody reads
list_left_out()
{
  local name
  for name in PERF_ROOTS PERF_PACKAGE_ROOTS PERF_ARM64_ROOT
  do
    [[ -n ${!name:-} ]] || echo "LEFT OUT  $name names no root file system (CONTRIBUTING.md)"
  done
  compgen -G "build/portable/orthanc-perf-*-linux-$(uname -m).tar.gz" > /dev/null \
    || echo "LEFT OUT  no archive in build/portable (Resources/build-portable.sh)"
}


WHICH=()
while [[ $# -gt 0 ]]
do
  case $1 in
    --help)
      usage
      exit 0
      ;;
    --long)
      export PERF_LONG=1 PERF_SWITCHES=${PERF_SWITCHES:-1000}
      export PERF_FUZZ_SECONDS=${PERF_FUZZ_SECONDS:-3600}
      export PERF_MUTANTS=${PERF_MUTANTS:-10000} PERF_STREAMS=${PERF_STREAMS:-20000} PERF_KILLS=${PERF_KILLS:-50}
      export PERF_FAULTS=${PERF_FAULTS:-20}
      export PERF_RELIABILITY=${PERF_RELIABILITY:-$PWD/$LOGS/reliability}
      ;;
    quick)
      WHICH+=(layout names unit few)
      ;;
    *)
      if ! grep -q "^part_$1()" Resources/test-parts.sh
      then
        echo "$0: there is no part $1 (--help names them)" >&2
        exit 2
      fi
      WHICH+=("$1")
      ;;
  esac
  shift
done

Resources/setup.sh
rm -rf "$LOGS" build/Testing
mkdir -p "$LOGS"
Resources/build.sh build all -DPERF_BENCHMARKS=ON

CHOICE=(-L "^(${PERF_LONG:+long|}change)\$")
if [[ ${#WHICH[@]} -gt 0 ]]
then
  CHOICE=(-R "^($(IFS='|'; echo "${WHICH[*]}"))\$")
fi
CODE=0
PERF_TEST_RUN=1 ctest --test-dir build --parallel 2 --verbose "${CHOICE[@]}" < /dev/null \
  | tee "$LOGS/ctest.log" || CODE=$?
FAILED=build/Testing/Temporary/LastTestsFailed.log
if [[ -e $FAILED ]]
then
  while IFS=: read -r _ part
  do
    printf '\n==== Why %s failed (all of it: %s)\n' "$part" "$LOGS/$part.log"
    show_reasons "$part"
  done < "$FAILED"
fi
printf '\n==== Summary, after %d s\n' "$SECONDS"
grep -E '^ *[0-9]+/[0-9]+ Test +#' "$LOGS/ctest.log"
count_tests "$LOGS"/*.log
if [[ -n ${PERF_LONG:-} && ${#WHICH[@]} -eq 0 ]]
then
  list_left_out
fi
exit "$CODE"
