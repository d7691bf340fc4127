#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh [--storage FOLDER] EXPERIMENT [OPTION...]: installs what is missing, builds, and runs an
# experiment; --help lists them. PERF_PLUGIN names a plugin that is built already.
# run.sh own SERVER_URL: of an Orthanc that exists already; it installs a client, builds nothing.
# run.sh report FILE, run.sh compare A B, run.sh keep A B: of what was measured; likewise.
set -euo pipefail
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
readonly ROOT PYTHON=$ROOT/build/venv/bin/python

# The password of somebody's server is the lab's own affair, and only "own" has one
env -u ORTHANC_USER -u ORTHANC_PASSWORD "$ROOT/Resources/setup.sh" client
export PYTHONPATH=$ROOT/Resources/Benchmarks:$ROOT/Resources/IntegrationTests
NEEDED=$("$PYTHON" -c "import sys; from lab.__main__ import tell_need; tell_need(sys.argv[1:])" "$@")
if [[ $NEEDED == all ]]
then
  unset ORTHANC_USER ORTHANC_PASSWORD
  "$ROOT/Resources/setup.sh"
  if [[ -z ${PERF_PLUGIN:-} ]]
  then
    "$ROOT/Resources/build.sh" build OrthancPerf
    "$ROOT/Resources/build.sh" build TranscodeFiles  # for "transcode"
  fi
fi

exec "$PYTHON" -m lab "$@"
