#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# build.sh FOLDER TARGET [CMAKE OPTION...]: configures FOLDER if need be, and builds TARGET there.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly FOLDER=$1 TARGET=$2
shift 2

OPTIONS=("$@")
if [[ ! -f $FOLDER/CMakeCache.txt ]]
then
  OPTIONS+=(-G Ninja)  # a folder keeps the generator that it was born with
fi
if command -v ccache > /dev/null
then
  OPTIONS+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi

# What one clone has compiled, ccache(1) finds again in another
CCACHE_BASEDIR=$(cd .. && pwd)
export CCACHE_BASEDIR CCACHE_NOHASHDIR=true CCACHE_SLOPPINESS=pch_defines,time_macros

cmake -S . -B "$FOLDER" --log-level=WARNING "${OPTIONS[@]}"
cmake --build "$FOLDER" --target "$TARGET" --parallel "$(nproc)"
