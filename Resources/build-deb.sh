#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes build/deb/orthanc-perf_VERSION_ARCH.deb for the release of Debian that this machine runs, 12
# or 13, of this release's own libraries, and has lintian(1) judge it. Installs what is missing before.
set -euo pipefail
cd "$(dirname "$0")/.."

# The date of the sources rather than of the moment
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || stat --format=%Y NEWS)}
export SOURCE_DATE_EPOCH

Resources/setup.sh deb
rm -f build/deb/*.deb
# Compiled as for the tests
Resources/build.sh build/deb all -DPERF_DEB=ON -DPERF_UNIT_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/usr \
  -DPERF_PLUGIN_FOLDER=lib/orthanc/perf -DCMAKE_MODULE_LINKER_FLAGS=-Wl,-z,relro,-z,now \
  -DCMAKE_EXE_LINKER_FLAGS=-Wl,-z,relro,-z,now
(cd build/deb && cpack)
rm -rf build/deb/_CPack_Packages
lintian --fail-on error --tag-display-limit 0 build/deb/*.deb
ls -l build/deb/*.deb
