#!/usr/bin/env bash
# Builds the C library and installs it below a prefix: install.sh PREFIX [CARGO-PROFILE]
# Headers, static and shared library, pkg-config file, CMake package. DESTDIR is respected.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: install.sh PREFIX [CARGO-PROFILE]" >&2; exit 2; }
mkdir -p "${DESTDIR:-}$1"
prefix=$(cd "${DESTDIR:-}$1" && pwd)
prefix=${prefix#"${DESTDIR:-}"}
profile=${2:-release}
cd "$(dirname "$0")/../.."

cargo build --locked --package tripcoil-c --profile "$profile"
case $profile in
    dev | test) built=${CARGO_TARGET_DIR:-target}/debug ;;
    *) built=${CARGO_TARGET_DIR:-target}/$profile ;;
esac
version=$(sed -n 's/^#define TRIPCOIL_VERSION "\(.*\)"$/\1/p' include/tripcoil.h)
series=${version%.*}
case $(uname -s) in
    Darwin)
        shared=libtripcoil.dylib soname=@rpath/libtripcoil.dylib
        static_libs="-lSystem -lc -lm"
        ;;
    *)
        # The soname is given in build.rs.
        shared=libtripcoil.so.$version soname=libtripcoil.so.0
        # What `rustc --print native-static-libs` names for it.
        static_libs="-lgcc_s -lutil -lrt -lpthread -lm -ldl -lc"
        ;;
esac

root=${DESTDIR:-}$prefix
mkdir -p "$root/include" "$root/lib/pkgconfig" "$root/lib/cmake/tripcoil"
install -m 644 include/tripcoil.h include/tripcoil.hpp "$root/include"
install -m 644 "$built/libtripcoil.a" "$root/lib"
install -m 755 "$built/${shared%".$version"}" "$root/lib/$shared"
if [ "$soname" = libtripcoil.so.0 ]; then
    ln -sf "$shared" "$root/lib/$soname"
    ln -sf "$soname" "$root/lib/libtripcoil.so"
fi
fill() {
    sed -e "s|@PREFIX@|$prefix|g; s|@VERSION@|$version|g; s|@SERIES@|$series|g" \
        -e "s|@SHARED@|$shared|g; s|@SONAME@|$soname|g; s|@STATIC_LIBS@|$static_libs|g" \
        -e "s|@STATIC_TARGETS@|${static_libs// /;}|g" \
        "bindings/c/packaging/$1.in" > "$2/$1"
}
fill tripcoil.pc "$root/lib/pkgconfig"
fill tripcoil-config.cmake "$root/lib/cmake/tripcoil"
fill tripcoil-config-version.cmake "$root/lib/cmake/tripcoil"
echo "installed tripcoil $version below $prefix"
