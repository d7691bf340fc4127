#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds dicom-rs's dicom-storescu and dicom-storescp from crates.io in build/dicom-rs, for the
# experiments "ingest", "stalls" and "peers". Takes 4 to 7 minutes, and needs cargo (Debian's package,
# or rustup where that is too old).
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly VERSION=0.10.1

if ! command -v cargo > /dev/null
then
  echo "install-dicom-rs.sh: install cargo first (see rustup.rs)" >&2
  exit 1
fi

# install PROGRAM [OPTION...]
install()
{
  CARGO_TARGET_DIR=build/dicom-rs/target nice cargo install "$1" --version "$VERSION" \
    --locked --root build/dicom-rs "${@:2}"
}

install dicom-storescu --no-default-features  # which only transcodes
install dicom-storescp
