#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the fuzz targets of build/asan, as many at once as there are processors.

    run-fuzz-targets.py brief                # some thousand inputs each, the same in each run
    run-fuzz-targets.py long SECONDS LOG     # so many seconds of a processor each, or up to a crash

"long" adds what it finds to the corpora in build/fuzz, and writes a line for each target to LOG,
as harness/fuzzing.py reads it. PERF_FUZZ_TARGETS names some targets, PERF_FUZZ_RUNS how many inputs
"brief" takes.
"""

import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "build" / "asan"

sys.path.insert(0, str(ROOT / "Resources" / "IntegrationTests"))

from harness.fuzzing import FuzzRun, write_runs  # noqa: E402


def list_targets() -> list[str]:
    named = os.environ.get("PERF_FUZZ_TARGETS", "").split()
    return named or sorted(path.stem for path in ROOT.glob("UnitTests/Fuzz/Fuzz*.cpp"))


def make_command(target: str, corpus: Path, *options: str) -> list[str]:
    (corpus / target).mkdir(parents=True, exist_ok=True)
    artifacts = f"-artifact_prefix={PROGRAMS / target}-"
    general = ["-max_len=65536", "-print_final_stats=1", artifacts]
    return [str(PROGRAMS / target), *general, *options, str(corpus / target)]


def run_briefly(target: str, corpus: Path) -> bool:
    """Prints what it says in one piece, as others run beside it."""
    # Codec libraries take most of the time of some targets: the time ends those, the runs others
    runs = os.environ.get("PERF_FUZZ_RUNS", "5000")
    options = [f"-runs={runs}", "-max_total_time=5", "-seed=1", "-verbosity=0"]
    command = make_command(target, corpus, *options)
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    print(f"{target}:\n{run.stdout.decode(errors='replace')}", flush=True)
    return run.returncode == 0


def run_for_long(target: str, corpus: Path, seconds: int) -> FuzzRun:
    began, date = time.monotonic(), datetime.now(UTC).strftime("%FT%TZ")
    processor, runs, coverage, crashes = 0.0, 0, 0, 0
    while processor < seconds and not crashes:
        # The clock, which libFuzzer counts, is never behind the processor's seconds
        limit = f"-max_total_time={int(seconds - processor) + 5}"
        command = make_command(target, corpus, limit, "-print_funcs=0")
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
        )
        for line in process.stdout:
            if found := re.search(r"cov: (\d+)", line):
                coverage = int(found[1])
            elif line.startswith("stat::number_of_executed_units:"):
                runs += int(line.split()[-1])
            # An engine goes on without memory that nobody has
            elif not re.match(r'[#"\n]|.*AddressSanitizer failed to allocate', line):
                print(f"{target}: {line}", end="", flush=True)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        crashes = int(process.returncode != 0)
        processor += usage.ru_utime + usage.ru_stime
    keep_what_is_of_use(target, corpus)
    elapsed = round(time.monotonic() - began)
    return FuzzRun(target, date, elapsed, int(processor), runs, coverage, crashes, name_commit())


def keep_what_is_of_use(target: str, corpus: Path) -> None:
    all_inputs, small = corpus / target, corpus / f"{target}-small"
    shutil.rmtree(small, ignore_errors=True)
    small.mkdir()
    merge = [PROGRAMS / target, "-merge=1", "-verbosity=0", small, all_inputs]
    subprocess.run(merge, stderr=subprocess.DEVNULL, check=True)
    shutil.rmtree(all_inputs)
    small.rename(all_inputs)


def name_commit() -> str:
    command = ["git", "describe", "--always", "--dirty=+", "--exclude=*"]
    described = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return described.stdout.strip() or "unknown"


def main() -> None:
    brief = sys.argv[1:] == ["brief"]
    corpus = PROGRAMS / "corpus" if brief else ROOT / "build" / "fuzz"
    if brief:
        shutil.rmtree(corpus, ignore_errors=True)  # so that each run is the same
    unpack = [ROOT / "Resources" / "fuzz-corpus.py", "unpack", corpus]
    subprocess.run([sys.executable, *unpack], check=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        if brief:
            passed = all(list(pool.map(partial(run_briefly, corpus=corpus), list_targets())))
        else:
            seconds, log = int(sys.argv[2]), Path(sys.argv[3])
            run = partial(run_for_long, corpus=corpus, seconds=seconds)
            lines = []
            for line in pool.map(run, list_targets()):
                lines.append(line)
                write_runs(log, lines)
            passed = not any(line.crashes for line in lines)
    sys.exit(0 if passed else 1)


if __name__ == "__main__":
    main()
