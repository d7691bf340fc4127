#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# make-arm64-root.sh FOLDER [PACKAGE...]: unpacks Debian's packages for arm64, with all that they
# depend on, for "qemu-aarch64 -L FOLDER": libc6, and orthanc with its plugin for DICOMweb, unless others are
# named. Of this machine's release of Debian. They are unpacked rather than installed: none of their scripts
# runs, and this machine's own packages stay as they are.
set -euo pipefail

if [[ $# -lt 1 || -e $1 ]]
then
  echo "usage: $0 FOLDER [PACKAGE...], a folder that is not there yet" >&2
  exit 2
fi

readonly FOLDER=$1
shift
PACKAGES=("$@")
[[ $# -gt 0 ]] || PACKAGES=(libc6 orthanc orthanc-dicomweb)

# shellcheck disable=SC2016  # $(REPO_URI) is for apt-get
MIRROR=${DEBIAN_MIRROR:-$(apt-get indextargets --no-release-info --format '$(REPO_URI)' |
  grep --extended-regexp '/debian/?$' | head --lines=1)}
SUITE=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
WORK=$(mktemp --directory)
trap 'rm -rf "$WORK"' EXIT

# apt with lists, packages and a state of its own, as on a machine with nothing installed
mkdir -p "$WORK"/{lists,archives}/partial "$WORK/parts"
touch "$WORK/status"
cat > "$WORK/sources.list" << END_OF_SOURCES
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $MIRROR $SUITE main
END_OF_SOURCES
cat > "$WORK/apt.conf" << END_OF_CONFIGURATION
APT { Architecture "arm64"; Architectures { "arm64"; }; Sandbox::User "root";
      Install-Recommends "false"; };
Dir { State "$WORK"; State::status "$WORK/status"; Cache "$WORK";
      Etc { sourcelist "$WORK/sources.list"; sourceparts "$WORK/parts";
            preferencesparts "$WORK/parts"; }; };
END_OF_CONFIGURATION
export APT_CONFIG=$WORK/apt.conf
apt-get update -qq
apt-get install --download-only --yes -qq -o Debug::NoLocking=true "${PACKAGES[@]}"

# As base-files would link them, which newer packages rely on
mkdir -p "$FOLDER/usr/lib"
ln -s usr/lib "$FOLDER/lib"
for package in "$WORK"/archives/*.deb
do
  dpkg-deb --fsys-tarfile "$package" |
    tar --extract --directory "$FOLDER" --keep-directory-symlink
done
echo "$FOLDER: $(find "$WORK/archives" -name '*.deb' | wc --lines) packages"
