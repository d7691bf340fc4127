#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# run.sh [--storage FOLDER] BENCHMARK [OPTION...]: installs what is missing, builds, and runs a
# benchmark; --help lists them. PERF_PLUGIN names a plugin that is built already.
set -euo pipefail
cd "$(dirname "$0")/../.."

Resources/setup.sh
if [[ -z ${PERF_PLUGIN:-} ]]
then
  Resources/build.sh build OrthancPerf
fi

if [[ ${1:-} == native-engine && -z ${PERF_PLUGIN:-} ]]
then
  for program in EncodeNative EncodeDcmtk EncodeGdcm
  do
    Resources/build.sh build "$program" -DPERF_BENCHMARKS=ON
  done
fi

export PYTHONPATH=Resources/Benchmarks:Resources/IntegrationTests
exec build/venv/bin/python -m lab "$@"
