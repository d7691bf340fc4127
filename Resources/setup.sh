#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# setup.sh [run | portable | deb | client]: installs what is missing on Debian 12 or 13: Debian's packages
# (as root or through sudo), and the dashboard's packages from the npm registry in WebApp/node_modules.
# May be run any number of times; when nothing is missing it takes a moment and needs neither root nor
# a network.
#   run       what building the plugin and running Orthanc with it need
#   (none)    what the tests need as well, with Python's packages in build/venv. Orthanc's other
#             plugins are unpacked below build: an installed Orthanc would load them
#   portable  what build-portable.sh needs, which brings its own compiler and libraries
#   deb       what build-deb.sh needs
#   client    what the lab needs to ask a server that exists already: no server, no plugin
set -euo pipefail
cd "$(dirname "$0")/.."

readonly BUILD_PACKAGES=(
  g++ cmake ninja-build pkg-config
  orthanc-dev libjsoncpp-dev
  libboost-dev libdcmtk-dev libgdcm-dev
)
readonly RUN_PACKAGES=(orthanc python3)
readonly TEST_PACKAGES=(
  ccache libgtest-dev liborthancframework-dev libbenchmark-dev libcurl4-openssl-dev clang clang-tidy
  shellcheck python3-venv dcmtk prometheus curl iproute2 openssl util-linux zip chromium nginx vsftpd
  vde2 iperf3 e2fsprogs postgresql libpq5 libgdcm-tools strace fuse3
  haproxy bindfs libfaketime mariadb-server libmariadb3 samba smbclient
)
readonly PORTABLE_PACKAGES=(
  cmake ninja-build pkg-config python3 python3-venv ca-certificates xz-utils patch binutils
)
readonly DEB_PACKAGES=(dpkg-dev file lintian)
readonly CLIENT_PACKAGES=(python3 python3-venv ca-certificates dcmtk)
readonly POLICY=/usr/sbin/policy-rc.d
readonly VENV=build/venv
readonly PLUGINS=(orthanc-dicomweb orthanc-postgresql orthanc-mysql orthanc-gdcm)
readonly PLUGINS_FOLDER=build/orthanc-plugins
readonly REQUIREMENTS=Resources/IntegrationTests/requirements.txt


as_root()
{
  if [[ $EUID -eq 0 ]]
  then
    "$@"
  elif command -v sudo > /dev/null
  then
    sudo "$@"
  else
    echo "setup.sh: run it as root, or install sudo, so that it can install Debian packages" >&2
    exit 1
  fi
}


is_installed()
{
  [[ $(dpkg-query --show --showformat='${db:Status-Status}' "$1" 2> /dev/null) == installed ]]
}


# Debian starts a service as soon as its package is installed: Orthanc would hold the ports 8042
# and 4242, Prometheus 9090. The policy is invoke-rc.d(8)'s own way to prevent that; nor are they to
# start with the machine (disable_units_since).
forbid_services()
{
  if [[ ! -e $POLICY ]]
  then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$POLICY" > /dev/null
    as_root chmod 755 "$POLICY"
    trap 'as_root rm -f "$POLICY"' EXIT
  fi
}


# What starts with the machine, a unit a line; nothing where there is no systemd
list_enabled_units()
{
  if command -v systemctl > /dev/null
  then
    systemctl list-unit-files --state=enabled --no-legend | awk '{ print $1 }' | sort
  fi
}


# What was enabled before is its owner's, also where the package is of another name
disable_units_since()
{
  local added
  mapfile -t added < <(comm -13 <(echo "$1") <(list_enabled_units))
  if [[ -n $1 && ${#added[@]} -gt 0 ]]
  then
    as_root systemctl disable --quiet "${added[@]}"
  fi
}


# Of apt-get's hundreds of lines nothing is shown, unless it fails
install_packages()
{
  local missing=() package log enabled
  for package in "$@"
  do
    is_installed "$package" || missing+=("$package")
  done

  if [[ ${#missing[@]} -gt 0 ]]
  then
    echo "Installing from Debian: ${missing[*]}"
    forbid_services
    as_root apt-get update -qq
    enabled=$(list_enabled_units)
    log=$(mktemp)
    if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq \
      -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 --no-install-recommends "${missing[@]}" > "$log" 2>&1
    then
      cat "$log" >&2
      echo "setup.sh: apt-get could not install them; it says why above" >&2
      exit 1
    fi
    rm -f "$log"
    disable_units_since "$enabled"
  fi
}


# The sanitizers' and libFuzzer's runtime, in the version of Debian's clang (12: 14, 13: 19)
name_clang_runtime()
{
  dpkg-query --show --showformat='${Depends}' clang | sed -E 's/.*clang-([0-9]+).*/libclang-rt-\1-dev/'
}


install_python_packages()
{
  local wanted
  wanted=$(sha256sum "$REQUIREMENTS")

  if [[ ! -f $VENV/requirements.stamp || $(cat "$VENV/requirements.stamp") != "$wanted" ]]
  then
    echo "Installing from PyPI into $VENV: $REQUIREMENTS"
    mkdir -p "$(dirname "$VENV")"
    /usr/bin/python3 -m venv --clear "$VENV"
    "$VENV/bin/pip" install --quiet --disable-pip-version-check --requirement "$REQUIREMENTS"
    echo "$wanted" > "$VENV/requirements.stamp"
  fi
}


# Node.js from elsewhere brings its own npm, which Debian's package of npm would not go with
name_npm_packages()
{
  command -v npm > /dev/null || echo nodejs npm
}


# Of the dashboard; CMake does the same, but a build is better off without a network
install_npm_packages()
{
  local installed=WebApp/node_modules/.package-lock.json
  if [[ ! -f $installed || WebApp/package-lock.json -nt $installed ]]
  then
    echo "Installing from the npm registry into WebApp/node_modules: WebApp/package-lock.json"
    npm --prefix WebApp ci --loglevel=error --no-audit --no-fund
    touch "$installed"
  fi
}


# Debian's plugins for tests: installed, they would be in every Orthanc here. The libraries that they
# need are among TEST_PACKAGES, and those of orthanc and libgdcm-dev.
unpack_plugins()
{
  local package
  if [[ ! -d $PLUGINS_FOLDER ]]
  then
    echo "Unpacking from Debian into $PLUGINS_FOLDER: ${PLUGINS[*]}"
    rm -rf "$PLUGINS_FOLDER.new"
    mkdir -p "$PLUGINS_FOLDER.new"
    as_root apt-get update -qq
    (cd "$PLUGINS_FOLDER.new" && apt-get download -qq -o APT::Sandbox::User=root "${PLUGINS[@]}")
    for package in "$PLUGINS_FOLDER.new"/*.deb
    do
      dpkg --extract "$package" "$PLUGINS_FOLDER.new"
    done
    mv "$PLUGINS_FOLDER.new" "$PLUGINS_FOLDER"
  fi
}


case ${1:-all} in
  run)
    install_packages "${BUILD_PACKAGES[@]}" "${RUN_PACKAGES[@]}"
    ;;
  all)
    install_packages "${BUILD_PACKAGES[@]}" "${RUN_PACKAGES[@]}" "${TEST_PACKAGES[@]}"
    install_packages "$(name_clang_runtime)"
    unpack_plugins
    install_python_packages
    ;;
  portable)
    install_packages "${PORTABLE_PACKAGES[@]}"
    ;;
  deb)
    install_packages "${BUILD_PACKAGES[@]}" "${DEB_PACKAGES[@]}"
    ;;
  client)
    install_packages "${CLIENT_PACKAGES[@]}"
    install_python_packages
    exit
    ;;
  *)
    echo "Usage: $0 [run | portable | deb | client]" >&2
    exit 2
    ;;
esac
read -ra NPM_PACKAGES <<< "$(name_npm_packages)"
install_packages "${NPM_PACKAGES[@]}"
install_npm_packages
