#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# make-debian-root.sh SUITE FOLDER [PACKAGE...]: a root file system of a release of Debian, such as
# trixie, with these packages, or Orthanc's if none is named, and nothing else that is not essential:
# what the tests take from PERF_ROOTS and PERF_PACKAGE_ROOTS. Needs root, and debootstrap(8). No service
# starts in it. From the mirror that apt uses here, or DEBIAN_MIRROR.
set -euo pipefail

readonly SUITE=$1 FOLDER=$2
shift 2
readonly PACKAGES=("${@:-orthanc}")

if [[ -f $FOLDER/made ]]
then
  echo "$FOLDER was made before"
  exit
fi

# shellcheck disable=SC2016  # $(REPO_URI) is for apt-get
MIRROR=${DEBIAN_MIRROR:-$(apt-get indextargets --no-release-info --format '$(REPO_URI)' |
  grep --extended-regexp '/debian/?$' | head --lines=1)}
debootstrap --force-check-gpg --variant=minbase --include=ca-certificates "$SUITE" "$FOLDER" "$MIRROR"
printf '#!/bin/sh\nexit 101\n' > "$FOLDER/usr/sbin/policy-rc.d"  # invoke-rc.d(8)
chmod +x "$FOLDER/usr/sbin/policy-rc.d"
cp /etc/resolv.conf /etc/hosts "$FOLDER/etc"

# shellcheck disable=SC2016  # "$@" is for the shell in the namespace
unshare --mount sh -ec '
  root=$1
  shift
  mount -t proc proc "$root/proc"
  mount --rbind /dev "$root/dev"
  chroot "$root" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive exec chroot "$root" apt-get install --yes -qq \
    -o Dpkg::Use-Pty=0 --no-install-recommends "$@"
' sh "$FOLDER" "${PACKAGES[@]}"
touch "$FOLDER/made"
