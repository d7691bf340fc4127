#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Builds, once, an Orthanc 1.13.0 like the official binaries and Docker images: DCMTK (which
# switches Nagle's algorithm off), CivetWeb, curl and OpenSSL are part of the executable. Tests and
# benchmarks take it as any other: PERF_ORTHANC=build/static-orthanc/Orthanc. The sources are
# Debian's, put where Orthanc's own build would download them; that build does the rest, as for
# its releases. Some 20 minutes on two cores of Debian 12, as root.
set -euo pipefail
cd "$(dirname "$0")/../.."

readonly FOLDER=$PWD/build/static-orthanc
readonly SOURCES=$FOLDER/sources
readonly BUILD=$FOLDER/build
readonly PATCHES=$FOLDER/orthanc/OrthancFramework/Resources/Patches
readonly PACKAGES=(
  g++ cmake ninja-build ccache patch pkg-config dpkg-dev protobuf-compiler libprotobuf-dev
  libboost-all-dev libjsoncpp-dev libssl-dev libcurl4-openssl-dev liblua5.3-dev libsqlite3-dev
  libpugixml-dev libminizip-dev libpng-dev libjpeg-dev uuid-dev zlib1g-dev
  # What Debian's libcurl.a needs beside OpenSSL
  libnghttp2-dev libidn2-dev librtmp-dev libssh2-1-dev libpsl-dev libkrb5-dev libldap-dev
  libzstd-dev libbrotli-dev
)


install_packages()
{
  if ! dpkg-query --show "${PACKAGES[@]}" > /dev/null 2>&1
  then
    DEBIAN_FRONTEND=noninteractive apt-get install --yes -qq -o Dpkg::Use-Pty=0 \
      --no-install-recommends "${PACKAGES[@]}"
  fi
}


# apt with a state of its own, so that the machine's list of sources stays as it is
with_sources_of_debian()
{
  local mirror
  # shellcheck disable=SC2016  # apt's own names
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' \
    'Label: Debian' | head -n 1)
  mkdir -p "$SOURCES/apt/lists"
  cat > "$SOURCES/apt/debian.sources" << END
Types: deb-src
URIs: $mirror
Suites: sid trixie
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
END
  apt-get -qq -o Dir::Etc::sourcelist="$SOURCES/apt/debian.sources" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$SOURCES/apt/lists" -o APT::Sandbox::User=root "$@"
}


# unpack PACKAGE/SUITE FILE SHA256 FOLDER: the upstream's file of a source package
unpack()
{
  local uri
  if ! sha256sum --check --status <<< "$3  $SOURCES/$2" 2> /dev/null
  then
    uri=$(with_sources_of_debian source --print-uris "$1" \
      | awk -v file="$2" '$2 == file { gsub(/\047/, "", $1); print $1 }')
    if [[ -z $uri ]]
    then
      echo "build-static-orthanc.sh: Debian's archive no longer has $2: put it into $SOURCES" >&2
      return 1
    fi
    echo "Downloading $2"
    /usr/lib/apt/apt-helper -qq download-file "$uri" "$SOURCES/$2" "SHA256:$3"
  fi
  rm -rf "$4"
  mkdir -p "$4"
  tar -C "$4" --strip-components=1 -xf "$SOURCES/$2"
}


get_sources()
{
  mkdir -p "$SOURCES" "$BUILD"
  with_sources_of_debian update
  unpack orthanc/sid orthanc_1.13.0+dfsg.orig.tar.xz \
    e53c3be0ab5f8c8b7712c3ddaaaff6056ad06f9c545eb0c33cc0f4fafda2c438 "$FOLDER/orthanc"
  unpack dcmtk/trixie dcmtk_3.6.9.orig.tar.gz \
    7f240eac06c45af5b17a6d2f7e41c54269274646aa348f44809e805ceef5d2e9 "$BUILD/dcmtk-3.6.9"
  unpack civetweb/trixie civetweb_1.16+dfsg.orig.tar.xz \
    41dbfd68cd3b914ce440a5813f21058813b61a972600cc04fb8233a0d2d04fe4 "$BUILD/civetweb-1.16"
  patch -d "$BUILD" -p0 --quiet < "$PATCHES/dcmtk-3.6.9.patch"
  patch -d "$BUILD" -p0 --quiet < "$PATCHES/civetweb-1.16.patch"
  cp "$PATCHES/dcmtk-dcdict_orthanc.cc" "$BUILD/dcmtk-3.6.9/dcmdata/libsrc/dcdict_orthanc.cc"
}


build()
{
  local libraries curl_needs
  libraries=$(pkg-config --variable=libdir libcurl)
  curl_needs=$(pkg-config --static --libs-only-l libcurl | sed -E 's/-l(curl|ssl|crypto)\b//g')

  cmake -S "$FOLDER/orthanc/OrthancServer" -B "$BUILD" -G Ninja --log-level=WARNING \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_POLICY_VERSION_MINIMUM=3.5 \
    -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache \
    -DSTANDALONE_BUILD=ON -DUSE_SYSTEM_DCMTK=OFF -DDCMTK_STATIC_VERSION=3.6.9 \
    -DUSE_SYSTEM_CIVETWEB=OFF -DCIVETWEB_OPENSSL_API=1.1 -DUSE_SYSTEM_MINIZIP=ON \
    -DOPENSSL_USE_STATIC_LIBS=TRUE -DCURL_LIBRARY="$libraries/libcurl.a" \
    -DCMAKE_CXX_STANDARD_LIBRARIES="$libraries/libssl.a $libraries/libcrypto.a $curl_needs" \
    -DBUILD_UNIT_TESTS=OFF -DBUILD_MODALITY_WORKLISTS=OFF -DBUILD_SERVE_FOLDERS=OFF \
    -DBUILD_CONNECTIVITY_CHECKS=OFF -DBUILD_HOUSEKEEPER=OFF -DBUILD_DELAYED_DELETION=OFF \
    -DBUILD_MULTITENANT_DICOM=OFF -DBUILD_RECOVER_COMPRESSED_FILE=OFF
  cmake --build "$BUILD" --target Orthanc --parallel "$(nproc)"
}


# Neither may come from a shared library, or the tests would look at another kind of Orthanc
check()
{
  if readelf -d "$BUILD/Orthanc" | grep NEEDED | grep -E 'lib(dcm|of|ssl|crypto|curl|civetweb)'
  then
    echo "build-static-orthanc.sh: these were to be linked statically" >&2
    return 1
  fi
}


if [[ ! -x $FOLDER/Orthanc ]]
then
  install_packages
  get_sources
  build
  check
  strip -o "$FOLDER/Orthanc" "$BUILD/Orthanc"
fi
"$FOLDER/Orthanc" --version | sed -n 1p
