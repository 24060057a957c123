#!/bin/bash
# ninja and g++ in a directory that is kept, without a lock.  ninja_gxx.sh CACHE [LINKER_FLAGS]
set -eu
here=$(dirname "$(realpath "$0")")
cache=$1

mkdir -p "$cache"
sed -e "s|@source@|$here/ninja_gxx|" -e "s|@ldflags@|${2:-}|" "$here/ninja_gxx/build.ninja.in" >"$cache/build.ninja"
ninja -C "$cache" >&2
"$here/check.py" "$cache/k.so"
