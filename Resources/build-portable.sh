#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# build-portable.sh [x86_64|aarch64] [tests]: makes
# build/portable/orthanc-perf-VERSION-linux-ARCH.tar.gz, whose library and programs need nothing but a
# C library (glibc 2.17 or newer), wherever Orthanc runs.
# Everything is compiled from the pinned sources of Packaging/sources.txt by the pinned compiler of
# Packaging/requirements.txt; nothing of this machine's own libraries gets in, and the same sources
# make the same bytes. What was downloaded and built is kept in build/portable for the next time.
# With "tests", the unit tests as well, by the same compiler, and runs them: those for aarch64 by
# qemu-user, with the C library in the folder that PERF_ARM64_ROOT names (of
# IntegrationTests/make-arm64-root.sh).
set -euo pipefail
cd "$(dirname "$0")/.."

readonly ARCHITECTURE=${1:-$(uname -m)}
readonly TESTS=${2:-}
readonly GLIBC=2.17
readonly PACKAGING=$PWD/Resources/Packaging
readonly DOWNLOADS=$PWD/build/portable/downloads
readonly TOOLS=$PWD/build/portable/tools
readonly FOLDER=$PWD/build/portable/$ARCHITECTURE
readonly PREFIX=$FOLDER/prefix
readonly JOBS=${JOBS:-$(nproc)}

# arm64 can multiply and add with one rounding. With two, as x86_64 does, it makes the same of an image
case $ARCHITECTURE:$TESTS in
  x86_64: | x86_64:tests) ARITHMETIC= ;;
  aarch64: | aarch64:tests) ARITHMETIC="-ffp-contract=off " ;;
  *)
    echo "usage: $0 [x86_64|aarch64] [tests]" >&2
    exit 2
    ;;
esac

VERSION=$(sed -nE 's/^project\(OrthancPerf VERSION ([0-9.]+).*/\1/p' CMakeLists.txt)
readonly VERSION ARITHMETIC
readonly NAME=orthanc-perf-$VERSION-linux-$ARCHITECTURE
readonly ARCHIVE=$PWD/build/portable/$NAME.tar.gz

# Of the sources, rather than of the moment
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || stat --format=%Y NEWS)}
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
unset {C,CXX,CPP,LD}FLAGS CPATH {C_INCLUDE,CPLUS_INCLUDE,LIBRARY,PKG_CONFIG}_PATH PERF_HEADERS
export ZIG_GLOBAL_CACHE_DIR=$PWD/build/portable/cache ZIG_LOCAL_CACHE_DIR=$PWD/build/portable/cache
export PERF_PORTABLE_FOLDER=$FOLDER PERF_PORTABLE_ARCHITECTURE=$ARCHITECTURE
readonly ALL_STEPS=$((${#TESTS} > 0 ? 15 : 13))
STEP=0


say()
{
  STEP=$((STEP + 1))
  printf '[%2d/%d, %3d s] %s\n' "$STEP" "$ALL_STEPS" "$SECONDS" "$1"
}


# Runs a command whose output only matters if it fails
quietly()
{
  if ! "$@" > "$FOLDER/log.txt" 2>&1
  then
    tail --lines=40 "$FOLDER/log.txt" >&2
    echo "build-portable.sh: failed: $*; all it said is in $FOLDER/log.txt" >&2
    exit 1
  fi
}


get_compiler()
{
  local wanted
  wanted=$(sha256sum < "$PACKAGING/requirements.txt")
  if [[ ! -f $TOOLS/stamp || $(cat "$TOOLS/stamp") != "$wanted" ]]
  then
    rm -rf "$TOOLS"
    python3 -m venv "$TOOLS/venv"
    "$TOOLS/venv/bin/pip" install --quiet --disable-pip-version-check --require-hashes --no-deps \
      --target "$TOOLS" --requirement "$PACKAGING/requirements.txt"
    echo "$wanted" > "$TOOLS/stamp"
  fi

  # Without its own idea of a debugging build; paths in the code are those below this folder
  mkdir -p "$FOLDER/bin"
  local tool
  for tool in cc c++
  do
    cat > "$FOLDER/bin/$tool" << END
#!/bin/sh
if [ $tool = c++ ] && [ "\$PERF_HEADERS" ]
then
  set -- -Xclang -include-pch -Xclang "\$PERF_HEADERS" "\$@"
fi
exec "$TOOLS/ziglang/zig" $tool -target $ARCHITECTURE-linux-gnu.$GLIBC -O2 -fno-sanitize=undefined -g0 -s \\
  $ARITHMETIC-fstack-protector-strong -ffunction-sections -fdata-sections -fvisibility=hidden \\
  "-ffile-prefix-map=$PWD=." "\$@"
END
  done
  for tool in ar ranlib
  do
    printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$TOOLS/ziglang/zig" "$tool" > "$FOLDER/bin/$tool"
  done
  chmod +x "$FOLDER"/bin/*
}


# The mirror of Debian that apt uses here; apt verifies the hashes
get_sources()
{
  local mirror hash path file
  # shellcheck disable=SC2016  # $(REPO_URI) is for apt-get
  mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --no-release-info --format '$(REPO_URI)' |
    grep --extended-regexp '/debian/?$' | head --lines=1)}
  mkdir -p "$DOWNLOADS"
  while read -r hash path
  do
    file=$DOWNLOADS/$(basename "$path")
    if [[ ! -f $file ]]
    then
      echo "           $(basename "$path")"
      quietly /usr/lib/apt/apt-helper -o APT::Sandbox::User=root \
        download-file "${mirror%/}/pool/main/$path" "$file.new" "SHA256:$hash"
      mv "$file.new" "$file"
    fi
    echo "$hash  $file" | sha256sum --check --quiet
  done < <(grep --extended-regexp '^[0-9a-f]{64} ' "$PACKAGING/sources.txt")
}


# find_source NAME KIND: its downloaded file, if there is one of that kind
find_source()
{
  sed -nE "s:^[0-9a-f]{64} .*/($1_[^/]*\.$2\.tar\..*):$DOWNLOADS/\1:p" "$PACKAGING/sources.txt"
}


# unpack NAME [OPTION OF TAR...]: its sources with Debian's patches, if there are any, into
# $FOLDER/NAME/source
unpack()
{
  local folder=$FOLDER/$1/source patches patch
  patches=$(find_source "$1" debian)
  rm -rf "${FOLDER:?}/$1"
  mkdir -p "$folder"
  tar --extract --file "$(find_source "$1" orig)" --directory "$folder" --strip-components=1 \
    "${@:2}"
  if [[ -n $patches ]]
  then
    tar --extract --file "$patches" --directory "$folder"
    while read -r patch
    do
      quietly patch --directory="$folder" --strip=1 --input="debian/patches/$patch"
    done < <(grep --invert-match --extended-regexp '^#|^$' "$folder/debian/patches/series")
  fi
}


# configure NAME OPTION...: by CMake, in $FOLDER/NAME/build
configure()
{
  local name=$1
  shift
  quietly cmake -G Ninja -S "$FOLDER/$name/source" -B "$FOLDER/$name/build" \
    -DCMAKE_TOOLCHAIN_FILE="$PACKAGING/Toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib -DBUILD_SHARED_LIBS=OFF \
    -DCMAKE_POLICY_VERSION_MINIMUM=3.5 "$@"
}


# precompile HEADER TARGET COMPILER OPTION...: to read headers is most of what many sources take. The
# compiler takes what it has made of them for an object and fails to link it, but names it then.
precompile()
{
  local made
  made=$("${@:3}" -Xclang -emit-pch -x c++ -c "$1" -o "$2" 2>&1 |
    sed -nE 's/.*error: (.*): unknown file type/\1/p' || true)
  cp "$made" "$2"
}


# precompile_for NAME OBJECT HEADER...: with the options with which CMake compiles that object;
# "compile" takes them for all C++ sources of NAME
precompile_for()
{
  local folder=$FOLDER/$1 command
  printf '#include <%s>\n' "${@:3}" > "$folder/headers.h"
  read -ra command < <(ninja -C "$folder/build" -t commands "$2" | tail --lines=1 |
    sed -E 's/ -MD .*//; s/ -D[A-Za-z0-9]+_EXPORTS//')
  (cd "$folder/build" && precompile "$folder/headers.h" "$folder/headers.pch" "${command[@]}")
}


compile()
{
  local precompiled=$FOLDER/$1/headers.pch
  [[ -f $precompiled ]] || precompiled=
  PERF_HEADERS=$precompiled quietly cmake --build "$FOLDER/$1/build" --parallel "$JOBS" \
    --target "${@:2}"
}


build_orthanc()
{
  unpack orthanc
  cp -r "$FOLDER"/orthanc/source/OrthancServer/Plugins/Include/orthanc "$PREFIX/include"
}


build_boost1.83()
{
  unpack boost1.83 --wildcards 'boost/LICENSE*' 'boost/libs/*/include/boost'
  cp -r "$FOLDER"/boost1.83/source/libs/{,numeric/}*/include/boost "$PREFIX/include"
}


build_libjsoncpp()
{
  unpack libjsoncpp
  configure libjsoncpp -DBUILD_OBJECT_LIBS=OFF -DJSONCPP_WITH_TESTS=OFF \
    -DJSONCPP_WITH_POST_BUILD_UNITTEST=OFF -DJSONCPP_WITH_EXAMPLE=OFF
  compile libjsoncpp install
}


# Debian leaves out what is for Windows; CMake looks for it all the same
build_zlib()
{
  unpack zlib
  mkdir "$FOLDER/zlib/source/win32"
  touch "$FOLDER/zlib/source/win32/zlib1.rc"
  configure zlib
  compile zlib zlibstatic
  cp "$FOLDER/zlib/build/libz.a" "$PREFIX/lib"
  cp "$FOLDER/zlib/source/zlib.h" "$FOLDER/zlib/build/zconf.h" "$PREFIX/include"
}


# With its dictionary built in; without conversions of character sets, which no engine asks for. What
# it would find out of glibc's iconv by running programs is said instead: those for another processor
# do not run here.
build_dcmtk()
{
  unpack dcmtk
  configure dcmtk -DBUILD_APPS=OFF -DDCMTK_DEFAULT_DICT=builtin -DDCMTK_ENABLE_STL=ON \
    -DDCMTK_ENABLE_CHARSET_CONVERSION=OFF -DDCMTK_ENABLE_MANPAGES=OFF \
    -DDCMTK_NO_TRY_RUN=ON -DDCMTK_ICONV_FLAGS_ANALYZED=TRUE \
    -DDCMTK_FIXED_ICONV_CONVERSION_FLAGS=AbortTranscodingOnIllegalSequence \
    -DDCMTK_STDLIBC_ICONV_HAS_DEFAULT_ENCODING=1 \
    -DDCMTK_MODULES="ofstd;oflog;oficonv;dcmdata;dcmimgle;dcmimage;dcmjpeg;dcmjpls" \
    -DDCMTK_WITH_{TIFF,PNG,XML,OPENSSL,SNDFILE,ICONV,WRAP,OPENJPEG,DOXYGEN}=OFF
  precompile_for dcmtk dcmdata/libsrc/CMakeFiles/dcmdata.dir/dcitem.cc.o \
    dcmtk/config/osconfig.h algorithm cctype cmath cstring fstream iomanip iostream limits list map \
    memory sstream string thread vector
  compile dcmtk install
}


build_openjpeg2()
{
  unpack openjpeg2
  configure openjpeg2 -DBUILD_CODEC=OFF -DBUILD_TESTING=OFF
  compile openjpeg2 install
}


build_charls()
{
  unpack charls
  configure charls -DCHARLS_BUILD_{TESTS,SAMPLES,FUZZ_TEST,AFL_FUZZ_TEST}=OFF -DCHARLS_INSTALL=ON
  compile charls install
}


# Of its many classes those with the codecs. As Debian, with OpenJPEG and CharLS of their own projects
# rather than the old copies beside it
build_gdcm()
{
  local folder=$FOLDER/gdcm class codecs=()
  for class in {Image,JPEG,JPEG8,JPEG12,JPEG16,JPEGLS,JPEG2000}Codec LookupTable PixelFormat \
    PhotometricInterpretation
  do
    codecs+=("Source/MediaStorageAndFileFormat/CMakeFiles/gdcmMSFF.dir/gdcm$class.cxx.o")
  done

  unpack gdcm
  configure gdcm -DGDCM_BUILD_TESTING=OFF -DGDCM_BUILD_APPLICATIONS=OFF -DGDCM_DOCUMENTATION=OFF \
    -DGDCM_USE_SYSTEM_{ZLIB,OPENJPEG,CHARLS}=ON
  compile gdcm gdcmCommon  # of another dialect than the rest
  precompile_for gdcm \
    Source/DataStructureAndEncodingDefinition/CMakeFiles/gdcmDSED.dir/gdcmDataSet.cxx.o \
    algorithm cstring fstream iomanip iostream map set sstream string vector
  compile gdcm gdcmDSED gdcmjpeg8 gdcmjpeg12 gdcmjpeg16 "${codecs[@]}"
  cp "$folder"/build/bin/libgdcm{Common,DSED,jpeg8,jpeg12,jpeg16}.a "$PREFIX/lib"
  rm -f "$PREFIX/lib/libgdcmMSFF.a"
  (cd "$folder/build" && "$FOLDER/bin/ar" rcs "$PREFIX/lib/libgdcmMSFF.a" "${codecs[@]}")
  mkdir -p "$PREFIX/include/gdcm-3.0"
  cp "$folder"/source/Source/*/*.h "$folder"/source/Source/*/*.txx \
    "$folder"/build/Source/Common/gdcmConfigure.h "$PREFIX/include/gdcm-3.0"
}


build_googletest()
{
  unpack googletest
  configure googletest -DBUILD_GMOCK=OFF
  compile googletest install
}


# build NAME TITLE: by build_NAME, unless that was done with the same recipe, sources and compiler
build()
{
  local stamp=$FOLDER/$1.stamp wanted
  wanted=$({ declare -f "build_$1" unpack configure compile precompile{,_for}
    cat "$FOLDER/bin/c++" "$TOOLS/stamp" "$PACKAGING/Toolchain.cmake"
    grep "/$1_" "$PACKAGING/sources.txt" || true; } | sha256sum)
  if [[ -f $stamp && $(cat "$stamp") == "$wanted" ]]
  then
    say "$2: built before"
  else
    say "$2"
    "build_$1"
    echo "$wanted" > "$stamp"
  fi
}


# precompile_for_plugin NAME [INCLUDE [OPTION...]]: NAME.pch, of the standard library's headers and those
# of what the plugin stands on
precompile_for_plugin()
{
  local headers=$FOLDER/plugin/$1.h compiled=$FOLDER/plugin/$1.pch
  {
    grep --recursive --no-filename --extended-regexp \
      '^#include <([a-z_]+|json/.*)>$' Plugin | sort --unique
    echo "${2:-}"
    cat "$FOLDER/libjsoncpp.stamp" "$FOLDER/bin/c++" | sed 's:^://:'
  } > "$headers.new"
  if [[ ! -f $compiled ]] || ! cmp --silent "$headers" "$headers.new"
  then
    mv "$headers.new" "$headers"
    precompile "$headers" "$compiled" "$FOLDER/bin/c++" -std=c++17 -fPIC -DNDEBUG \
      -isystem "$PREFIX/include" "${@:3}"
  fi
}


build_plugin()
{
  local folder=$FOLDER/plugin tests=(-DPERF_UNIT_TESTS=OFF)
  mkdir -p "$folder"
  precompile_for_plugin plugin
  if [[ $TESTS ]]
  then
    precompile_for_plugin tests "#include <gtest/gtest.h>" -O0 -g1
    tests=(-DPERF_UNIT_TESTS=ON -DCMAKE_GTEST_DISCOVER_TESTS_DISCOVERY_MODE=PRE_TEST)
    if [[ $ARCHITECTURE != "$(uname -m)" ]]
    then
      tests+=("-DCMAKE_CROSSCOMPILING_EMULATOR=qemu-$ARCHITECTURE;-L;${PERF_ARM64_ROOT:-/}")
    fi
  fi
  quietly cmake -G Ninja -S . -B "$folder" --log-level=WARNING \
    -DCMAKE_TOOLCHAIN_FILE="$PACKAGING/Toolchain.cmake" -DCMAKE_BUILD_TYPE=Release \
    -DPERF_PORTABLE=ON -DPERF_PRECOMPILED="$folder" "${tests[@]}"
  quietly cmake --build "$folder" --parallel "$JOBS" \
    --target OrthancPerf OrthancPerfDcmtk OrthancPerfGdcm
}


run_unit_tests()
{
  local left_out=() untestable=$PACKAGING/not-by-qemu.txt
  quietly cmake --build "$FOLDER/plugin" --parallel "$JOBS" --target UnitTests
  if [[ $ARCHITECTURE != "$(uname -m)" ]]
  then
    if [[ ! ${PERF_ARM64_ROOT:-} ]] || ! command -v "qemu-$ARCHITECTURE" > /dev/null
    then
      echo "           built, not run: no PERF_ARM64_ROOT, or no qemu-$ARCHITECTURE (package qemu-user)"
      return
    fi
    left_out=(--exclude-regex "^($(grep --invert-match --extended-regexp '^#|^$' "$untestable" |
      paste --serial --delimiters='|'))\$")
    echo "           without those that Packaging/not-by-qemu.txt names"
  fi
  quietly ctest --test-dir "$FOLDER/plugin" --parallel "$JOBS" --timeout 300 "${left_out[@]}"
  grep --extended-regexp '^[0-9]+% tests passed|\(Skipped\)' "$FOLDER/log.txt"
}


# keep_licence NAME FILE...: of something that is linked in
keep_licence()
{
  local target=$FOLDER/$NAME/licences/$1.txt file
  shift
  mkdir -p "$(dirname "$target")"
  for file in "$@"
  do
    cat "$file"
    echo
  done > "$target"
}


keep_licences()
{
  keep_licence JsonCpp "$FOLDER/libjsoncpp/source/LICENSE"
  keep_licence Boost "$FOLDER/boost1.83/source/LICENSE_1_0.txt"
  keep_licence Orthanc-SDK "$FOLDER/orthanc/source/COPYING"
  keep_licence zlib "$FOLDER/zlib/source/LICENSE"
  keep_licence DCMTK "$FOLDER"/dcmtk/source/{COPYRIGHT,dcmjpls/docs/License.txt,oflog/docs/LICENSE}
  keep_licence DCMTK-IJG "$FOLDER/dcmtk/source/dcmjpeg/docs/ijg_readme.txt"
  keep_licence OpenJPEG "$FOLDER/openjpeg2/source/LICENSE"
  keep_licence CharLS "$FOLDER/charls/source/LICENSE.md"
  keep_licence GDCM "$FOLDER/gdcm/source/Copyright.txt" \
    "$FOLDER"/gdcm/source/Utilities/gdcmjpeg/COPYRIGHT.dcmtk
  keep_licence LLVM-libcxx "$TOOLS"/ziglang/lib/libcxx/LICENSE.TXT
  keep_licence zig-compiler-rt "$TOOLS/ziglang/LICENSE"
  keep_licence glibc-start-files "$TOOLS/ziglang/lib/libc/glibc/LICENSES"
  keep_licence Vue WebApp/node_modules/vue/LICENSE
  keep_licence uPlot WebApp/node_modules/uplot/LICENSE
}


# The same files make the same archive: their order, dates, owners and rights are the archive's own
pack()
{
  local folder=$FOLDER/$NAME
  rm -rf "$folder"
  mkdir -p "$folder"/{docker,documentation,fleet,grafana,prometheus}
  cp "$FOLDER"/plugin/{libOrthancPerf.so,OrthancPerfDcmtk,OrthancPerfGdcm} COPYING NEWS \
    Resources/Configuration/{access.lua,perf.json} "$folder"
  find Resources/Docker -maxdepth 1 -type f ! -name '.*' -exec cp --target-directory="$folder/docker" {} +
  (cd Resources/Documentation && find . -regex '.*\.\(md\|yaml\|svg\|png\)' \
    -exec cp --parents --target-directory="$folder/documentation" {} +)
  cp Resources/Fleet/{perf-fleet,*.*} "$folder/fleet"
  cp Resources/Grafana/*.json "$folder/grafana"
  cp Resources/Prometheus/{recording,alerting}.yml "$folder/prometheus"
  sed "s/VERSION/$VERSION/; s/ARCHITECTURE/$ARCHITECTURE/" "$PACKAGING/README.txt" > "$folder/README"
  keep_licences

  # Other formats have fields that Debian 12's tar fills and Debian 13's leaves empty, or the reverse
  tar --create --directory "$FOLDER" --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" \
    --owner=root:0 --group=root:0 --numeric-owner --mode=u=rwX,go=rX "$NAME" |
    gzip --no-name --best > "$ARCHIVE.new"
  mv "$ARCHIVE.new" "$ARCHIVE"
}


Resources/setup.sh portable
mkdir -p "$PREFIX"/{include,lib}
say "the compiler (from PyPI, 100 MB)"
get_compiler
say "the sources (from Debian's mirror, 105 MB)"
get_sources
build orthanc "the header of Orthanc's SDK"
build boost1.83 "Boost's headers"
build libjsoncpp JsonCpp
build zlib zlib
build charls CharLS
build openjpeg2 OpenJPEG
build dcmtk DCMTK
build gdcm GDCM
if [[ $TESTS ]]
then
  build googletest GoogleTest
fi
say "the plugin and its programs"
build_plugin
say "the archive"
pack
"$PACKAGING/check-portable.py" "$ARCHIVE"
if [[ $TESTS ]]
then
  say "the unit tests"
  run_unit_tests
fi
