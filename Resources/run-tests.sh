#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what is missing, builds, and runs the tests that a change must pass. Goes on after a
# failure, so that one run tells all; the end shows the reason of each failure, and the exit code is
# zero only if nothing failed. Resources/Documentation/testing.md says what is where and why.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly VENV=build/venv/bin
readonly LOGS=build/test-run  # each part's output, PART.log, and its result, PART.result
readonly REASON_LINES=30      # of each failed part, on the last screen

# The parts in their order, and how many seconds each may take before it is ended: several times
# what it takes on two cores, so that a busy machine alone fails nothing
declare -rA LIMITS=(
  [build]=3600 [scripts]=300 [python]=300 [layout]=300 [names]=300 [exports]=60 [dashboard]=900
  [unit]=1200 [integration]=3600 [style]=4800 [sanitized-build]=4800 [sanitizers]=2400
  [threads]=2400 [alone]=3600 [few]=900 [fuzz]=7200 [soak]=3600
)
readonly LONG_FACTOR=8  # of each, with --long
readonly COMMITS_IN_STYLE=20  # on "main", whose files `style` looks at
readonly FIRST=(scripts python layout names exports dashboard unit integration)
readonly BESIDE=(style sanitized-build)
readonly LAST=(sanitizers threads alone)
readonly LONG=(fuzz soak)  # with --long, or by name
readonly QUICK=(layout names unit few)
# test_NAME.py: each phase, count, answer and engine once
readonly FEW=(counts duplicates history metrics origins phases probe_off retrieving transcoding_jobs)
readonly OF_SOURCES=(scripts python layout names dashboard)  # they need nothing that is built


usage()
{
  cat << END
Usage: $0 [--long | quick] [PART...]

Installs what is missing, builds, and runs the tests that a change must pass, or only these parts
of them; the five parts marked with * are not preceded by a build:

  scripts *        shell scripts (shellcheck)
  python *         Python (ruff)
  layout *         C++ layout (clang-format)
  style            C++ style (clang-tidy) of files that differ from "main", or on it from 20 commits ago
  names *          each class is defined once
  exports          the plugin exports Orthanc's four functions
  dashboard *      the dashboard's types and unit tests
  unit             unit tests
  sanitized-build  what the next two run; they build it, too
  sanitizers       unit tests and fuzz targets with address and undefined-behaviour sanitizers
  threads          unit tests of what threads share, with the thread sanitizer
  integration      a real Orthanc, tests side by side
  alone            a real Orthanc, tests that measure time, one after the other
  few              only by name, or with quick: some forty tests of "integration"
  fuzz             only with --long, or by name: each fuzz target for an hour, or a minute by name
  soak             only with --long, or by name: everything at once, for two hours, or 20 minutes

  quick        while one works on a change, five minutes: ${QUICK[*]}
  --long       as before a release, a day: clang-tidy for all files, all unit tests with the
               thread sanitizer, classes compared by the linker, 1,000 live switches of the engine,
               hundreds of kills and power cuts, whose outcome is kept in
               build/test-run/reliability, and the last two parts. The end names what was left out,
               such as other releases of Orthanc, as nobody has made a root file system for it
END
}


# ---- Parts ------------------------------------------------------------------------------------

part_build()
{
  Resources/build.sh build all -DPERF_BENCHMARKS=ON
}


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


build_sanitized()
{
  Resources/build.sh build/asan all -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_C_COMPILER=clang \
    -DPERF_FUZZ=ON -DPERF_DASHBOARD=OFF -DPERF_SANITIZE=address,undefined
}


# Most of what the thread sanitizer can see is in tests that start threads, or use what does
build_for_threads()
{
  local expression='std::(thread|async)|PeriodicTask|EngineDirectory|WorkerPool|IsolatedEngine'
  if [[ -n ${PERF_LONG:-} ]]
  then
    expression=
  fi
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


# What the parts after it would build
part_sanitized-build()
{
  build_sanitized
  build_for_threads
}


list_fuzz_targets()
{
  # shellcheck disable=SC2086 # one or more
  basename --multiple --suffix=.cpp ${PERF_FUZZ_TARGETS:-UnitTests/Fuzz/Fuzz*.cpp}
}


# run_fuzz_target TARGET CORPUS OPTIONS...: begins with what is kept, and adds to the folder CORPUS
run_fuzz_target()
{
  local target=$1 corpus=$2
  shift 2
  mkdir -p "$corpus/$target"
  "build/asan/$target" -max_len=65536 -verbosity=0 -print_final_stats=1 \
    -artifact_prefix="build/asan/$target-" "$@" "$corpus/$target"
}


# on_each_fuzz_target FUNCTION ARGUMENTS...: as many at once as there are processors
on_each_fuzz_target()
{
  export -f run_fuzz_target fuzz_for_long fuzz_briefly
  # shellcheck disable=SC2016 # the inner shell's
  list_fuzz_targets | xargs -P "$(nproc)" -I TARGET bash -c '
    set -euo pipefail
    function=$1
    shift
    "$function" TARGET "$@"
  ' - "$@"
}


# fuzz_briefly TARGET CORPUS RUNS: what it says in one piece, beside others
fuzz_briefly()
{
  local target=$1 corpus=$2 runs=$3 said code=0
  # Most of the time of codec libraries' programs is the libraries': the time ends these, the runs others
  said=$(run_fuzz_target "$target" "$corpus" -runs="$runs" -max_total_time=5 -seed=1 2>&1) || code=$?
  printf '%s:\n%s\n' "$target" "$said"
  return "$code"
}


part_sanitizers()
{
  local corpus=build/asan/corpus
  build_sanitized
  run_shards build/asan/UnitTests
  rm -rf "$corpus"  # so that each run is the same
  "$VENV/python" Resources/fuzz-corpus.py unpack "$corpus"
  on_each_fuzz_target fuzz_briefly "$corpus" "${PERF_FUZZ_RUNS:-5000}"
}


# fuzz_for_long TARGET CORPUS SECONDS: what it says, and its line of $LOGS/fuzz, once it has had so many
# seconds of a processor, however busy the machine is. Afterwards, the folder CORPUS holds what it has
# found, without what is of no more use.
fuzz_for_long()
{
  local target=$1 corpus=$2 seconds=$3 small=$2-small begin=$SECONDS processor=0 crashes=0
  local date commit figures runs coverage TIMEFORMAT='%U %S'
  date=$(date --utc +%FT%TZ)
  commit=$(git describe --always --dirty=+ --exclude='*' 2> /dev/null || echo unknown)
  figures=$(mktemp -d)
  echo "0 0" > "$figures/runs"
  while (( processor < seconds && crashes == 0 ))
  do
    # The processor's seconds are at most the clock's, which libFuzzer counts
    { time run_fuzz_target "$target" "$corpus" -max_total_time="$(( seconds - processor + 5 ))" \
        -verbosity=1 -print_funcs=0 2>&1; } 2> "$figures/time" \
      | awk -v target="$target" -v figures="$figures/runs" '
          BEGIN { getline before < figures; close(figures); split(before, sum) }
          match($0, /cov: [0-9]+/) { sum[2] = substr($0, RSTART + 5, RLENGTH - 5) }
          /^stat::number_of_executed_units:/ { sum[1] += $2 }
          /AddressSanitizer failed to allocate/ { next }  # what nobody has: an engine goes on
          !/^[#"]/ { print target ": " $0; fflush() }
          END { printf "%d %d\n", sum[1], sum[2] > figures }' \
      || crashes=1
    processor=$(awk -v before="$processor" '{ print int(before + $1 + $2) }' "$figures/time")
  done
  read -r runs coverage < "$figures/runs"
  printf '%s\t%s\t%d\t%d\t%d\t%d\t%d\t%s\n' "$target" "$date" $((SECONDS - begin)) "$processor" \
    "$runs" "$coverage" "$crashes" "$commit" >> "$LOGS/fuzz"
  rm -r "$figures"
  rm -rf "${small:?}/$target"
  mkdir -p "$small/$target"
  "build/asan/$target" -merge=1 -verbosity=0 "$small/$target" "$corpus/$target" 2> /dev/null
  rm -rf "${corpus:?}/$target"
  mv "$small/$target" "$corpus/$target"
  return "$crashes"
}


# Each target for so many seconds of a processor, as many at once as there are processors. What they
# find stays in build/fuzz for the next time. A target ends with its first crash; "coverage" counts
# edges of the program's flow.
part_fuzz()
{
  local corpus=build/fuzz
  build_sanitized
  "$VENV/python" Resources/fuzz-corpus.py unpack "$corpus"
  mkdir -p "$LOGS"
  printf '%s\t' target begin seconds processor runs coverage crashes > "$LOGS/fuzz"
  echo commit >> "$LOGS/fuzz"
  export LOGS
  on_each_fuzz_target fuzz_for_long "$corpus" "${PERF_FUZZ_SECONDS:-60}"
}


part_threads()
{
  build_for_threads
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
  run_pytest -m "not alone" --numprocesses $((2 * $(nproc))) --dist loadscope \
    Resources/IntegrationTests
}


part_few()
{
  # shellcheck disable=SC2046 # no name has a space in it
  run_pytest -m "not alone" --numprocesses $((2 * $(nproc))) --dist loadscope \
    $(printf 'Resources/IntegrationTests/test_%s.py ' "${FEW[@]}")
}


part_alone()
{
  build_sanitized  # for test_sanitized.py
  # What a busy machine disturbed once is measured again; a fault fails twice
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


# ---- Running them -----------------------------------------------------------------------------

# begin PART [NICE]: in the background, by this script in a process group of its own, which ends
# when its time is up
begin()
{
  local part=$1 priority=${2:-0}
  local limit=${LIMITS[$part]}
  if [[ -n ${PERF_LONG:-} ]]
  then
    limit=$((limit * LONG_FACTOR))
  fi
  rm -f "$LOGS/$part.result"
  : > "$LOGS/$part.log"
  (
    trap - EXIT
    begin=$SECONDS code=0
    nice -n "$priority" timeout --kill-after=20 "$limit" "$0" --inside "$part" \
      >> "$LOGS/$part.log" 2>&1 < /dev/null &
    echo $! > "$LOGS/$part.pid"
    wait $! || code=$?
    if [[ $code -eq 124 || $code -eq 137 ]]
    then
      echo "$part has not ended within $limit s, and was ended" >> "$LOGS/$part.log"
    fi
    echo "$code $((SECONDS - begin))" > "$LOGS/$part.result"
  ) &
  JOBS[$part]=$!
}


# Shows what the part says until it has ended
follow()
{
  printf '\n==== %s\n' "$1"
  tail --lines=+1 --sleep-interval=0.2 --pid="${JOBS[$1]}" --follow "$LOGS/$1.log" 2> /dev/null
  wait "${JOBS[$1]}" || true
}


# What the log says of failures: the lines that test programs mark, or else its end
show_reasons()
{
  local marks='^E  |^(FAILED|ERROR) |^(ERROR|SUMMARY): |: (fatal )?(error|warning|runtime error): '
  marks+='|: Failure$|^\[  FAILED|\(Failed\)|\(Timeout\)| FAIL |AssertionError|has not ended within'
  if grep -qE "$marks" "$LOGS/$1.log"
  then
    grep -E -A 3 "$marks" "$LOGS/$1.log" | tail -n "$REASON_LINES"
  else
    tail -n "$REASON_LINES" "$LOGS/$1.log"
  fi
}


# By what pytest, ctest, GoogleTest and vitest say at their end
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
    /tests passed, [0-9]+ tests failed out of/ { failed += $4; passed += $NF - $4 }
    /^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
    /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
    END { printf "%d tests passed, %d failed, %d skipped\n", passed, failed, skipped }'
}


# What --long has not tried, for want of what somebody has to make first: a skipped test is one of
# many in a log that nobody reads
list_left_out()
{
  local root name archives=(build/portable/orthanc-perf-*-linux-"$(uname -m)".tar.gz)
  if [[ -z ${PERF_ROOTS:-} ]]
  then
    echo "other releases of Orthanc, the fleet of two releases among them: PERF_ROOTS names no root" \
      "file system (Resources/IntegrationTests/make-debian-root.sh)"
  elif [[ ! -e ${archives[0]} ]]
  then
    echo "the Orthancs of PERF_ROOTS: no archive in build/portable (Resources/build-portable.sh)"
  fi
  if [[ -z ${PERF_PACKAGE_ROOTS:-} ]]
  then
    echo "Debian's package, installed: PERF_PACKAGE_ROOTS names no root file system" \
      "(Resources/IntegrationTests/make-debian-root.sh)"
  fi
  if [[ -z ${PERF_ARM64_ROOT:-} ]]
  then
    echo "arm64: PERF_ARM64_ROOT names no folder (Resources/IntegrationTests/make-arm64-root.sh)"
  fi
  for name in PERF_ROOTS PERF_PACKAGE_ROOTS PERF_ARM64_ROOT
  do
    while read -r root
    do
      [[ -z $root || -d $root ]] || echo "$root of $name: there is no such folder"
    done < <(tr ':' '\n' <<< "${!name:-}")
  done
}


# Each part's line, and the reasons of those that failed; returns 1 if any has
summarize()
{
  local part code seconds lines=() failed=() logs=()
  for part in "$@"
  do
    read -r code seconds < "$LOGS/$part.result" || code=1 seconds=0
    logs+=("$LOGS/$part.log")
    if [[ $code -eq 0 ]]
    then
      lines+=("$(printf 'ok      %5d s  %s' "$seconds" "$part")")
    else
      lines+=("$(printf 'FAILED  %5d s  %s' "$seconds" "$part")")
      failed+=("$part")
    fi
  done

  for part in "${failed[@]}"
  do
    printf '\n==== Why %s failed (all of it: %s)\n' "$part" "$LOGS/$part.log"
    show_reasons "$part"
  done
  printf '\n==== Summary, after %d s\n' "$SECONDS"
  printf '%s\n' "${lines[@]}"
  count_tests "${logs[@]}"
  if [[ -n ${PERF_LONG:-} ]] && is_in integration "$@"
  then
    list_left_out | sed 's/^/LEFT OUT  /'
  fi
  if [[ ${#failed[@]} -gt 0 ]]
  then
    echo "${#failed[@]} of $# parts FAILED: ${failed[*]}"
    return 1
  fi
  echo "All $# parts passed"
}


# is_in WORD WORDS...
is_in()
{
  local word
  for word in "${@:2}"
  do
    [[ $word != "$1" ]] || return 0
  done
  return 1
}


# What still runs: timeout(1) passes the signal on to the whole group of its part
stop_all()
{
  local file
  if [[ -n ${JOBS[beside]:-} ]]
  then
    kill "${JOBS[beside]}" 2> /dev/null || true  # else it would begin its next part
  fi
  for file in "$LOGS"/*.pid
  do
    if [[ -e $file && ! -e ${file%.pid}.result ]]
    then
      kill -TERM "$(< "$file")" 2> /dev/null || true
    fi
  done
}


# needs_build [PART...]: no part means all of them
needs_build()
{
  local part
  for part in "$@"
  do
    is_in "$part" "${OF_SOURCES[@]}" || return 0
  done
  [[ $# -eq 0 ]]
}


PARTS=() BUILT=()
while [[ $# -gt 0 ]]
do
  case $1 in
    --inside)
      "part_$2"
      exit
      ;;
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
      PARTS+=("${QUICK[@]}")
      ;;
    *)
      if ! is_in "$1" "${FIRST[@]}" "${BESIDE[@]}" "${LAST[@]}" "${LONG[@]}" few
      then
        echo "$0: there is no part $1 (--help names them)" >&2
        exit 2
      fi
      PARTS+=("$1")
      ;;
  esac
  shift
done

declare -A JOBS=()
trap stop_all EXIT
Resources/setup.sh
rm -rf "$LOGS"
mkdir -p "$LOGS"
if needs_build "${PARTS[@]}"
then
  begin build
  follow build
  if ! grep -q '^0 ' "$LOGS/build.result"
  then
    summarize build
    exit 1
  fi
  BUILT=(build)
fi

if [[ ${#PARTS[@]} -gt 0 ]]
then
  for part in "${PARTS[@]}"
  do
    begin "$part"
    follow "$part"
  done
  summarize "${BUILT[@]}" "${PARTS[@]}"
  exit
fi

# What only needs processors takes what the other parts leave of them
(
  trap - EXIT
  for part in "${BESIDE[@]}"
  do
    begin "$part" 10
    wait "${JOBS[$part]}" || true
  done
) &
JOBS[beside]=$!
for part in "${FIRST[@]}"
do
  begin "$part"
  follow "$part"
done
printf '\n==== %s\n' "Waiting for: ${BESIDE[*]}"
wait "${JOBS[beside]}" || true
AFTER=("${LAST[@]}")
if [[ -n ${PERF_LONG:-} ]]
then
  AFTER+=("${LONG[@]}")
fi
for part in "${AFTER[@]}"
do
  begin "$part"
  follow "$part"
done
summarize build "${FIRST[@]}" "${BESIDE[@]}" "${AFTER[@]}"
