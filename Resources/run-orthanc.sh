#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what building and running need, builds, and starts Orthanc with the plugin, in the
# foreground.
set -euo pipefail

usage()
{
  cat << END
Usage: $0 [OPTION...]

Starts Orthanc with the performance plugin, on an embedded SQLite database, in the foreground;
Ctrl-C ends it. Its REST interface answers on this machine only and asks for no password, unless
the extra configuration says otherwise: "RemoteAccessAllowed" needs "RegisteredUsers", unless
"AuthenticationEnabled" is false.

  --http-port PORT   for REST and the dashboard (8042)
  --dicom-port PORT  for DICOM (4242)
  --storage DIR      where images and database are kept (build/storage)
  --config FILE      more of Orthanc's configuration. It overrides what this script sets, but
                     not the options above. Paths in it must be absolute. A sample is
                     Resources/Configuration/perf.json
  --help             this text
END
}

fail()
{
  echo "$0: $1 (--help tells more)" >&2
  exit 2
}

check_port()
{
  if [[ ! $2 =~ ^[0-9]{1,5}$ || $((10#$2)) -lt 1 || $((10#$2)) -gt 65535 ]]
  then
    fail "$1 must be a number from 1 to 65535, not \"$2\""
  fi
}

# Works without Python, when nothing is installed yet: a port is taken if bash(1) can connect to it
is_taken()
{
  (: > "/dev/tcp/127.0.0.1/$1") 2> /dev/null
}

OPTIONS=()
declare -A PORTS=([--http-port]=8042 [--dicom-port]=4242)
while [[ $# -gt 0 ]]
do
  case $1 in
    --help)
      usage
      exit 0
      ;;
    --http-port | --dicom-port | --storage | --config)
      [[ $# -ge 2 ]] || fail "$1 needs a value"
      case $1 in
        --*-port) check_port "$1" "$2" ;;
        --config) [[ -r $2 ]] || fail "cannot read the file $2" ;;
      esac
      case $1 in
        --*-port)
          OPTIONS+=("$1" "$2")
          PORTS[$1]=$((10#$2))
          ;;
        *) OPTIONS+=("$1" "$(realpath -m -- "$2")") ;;
      esac
      shift 2
      ;;
    *)
      fail "there is no option $1"
      ;;
  esac
done

cd "$(dirname "$0")/.."
readonly CONFIGURATION=build/run-orthanc.json

# make_configuration [OPTION...]: fails if a port is taken
make_configuration()
{
  /usr/bin/python3 Resources/Configuration/make-configuration.py \
    --plugin build/libOrthancPerf.so --output "$CONFIGURATION" "${OPTIONS[@]}" "$@"
}

# Before minutes of installing and building; a configuration of the user's may name other ports
if [[ -x /usr/bin/python3 ]]
then
  make_configuration --check
elif [[ ${OPTIONS[*]} != *--config* ]]
then
  for option in "${!PORTS[@]}"
  do
    ! is_taken "${PORTS[$option]}" || fail "port ${PORTS[$option]} is taken: choose another by $option"
  done
fi

Resources/setup.sh run
Resources/build.sh build OrthancPerf
make_configuration

# "exec": signals reach Orthanc, and its exit code whoever called this script
exec /usr/sbin/Orthanc "$CONFIGURATION"
