#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh [--storage FOLDER] EXPERIMENT [OPTION...]: installs what is missing, builds, and runs an
# experiment; --help lists them. PERF_PLUGIN names a plugin that is built already.
# run.sh own SERVER_URL: of an Orthanc that exists already; it builds nothing.
# run.sh report FILE, run.sh compare A B, run.sh keep A B: of what was measured; they build nothing.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
readonly ROOT

if [[ ! ${1:-} =~ ^(report|compare|keep)$ ]]
then
  "$ROOT/Resources/setup.sh"
  if [[ -z ${PERF_PLUGIN:-} && ${1:-} != own ]]
  then
    "$ROOT/Resources/build.sh" build OrthancPerf
    "$ROOT/Resources/build.sh" build TranscodeFiles  # for "transcode"
  fi
fi

export PYTHONPATH=$ROOT/Resources/Benchmarks:$ROOT/Resources/IntegrationTests
exec "$ROOT/build/venv/bin/python" -m lab "$@"
