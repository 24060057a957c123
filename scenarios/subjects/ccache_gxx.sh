#!/bin/bash
# ccache over g++: the cache is ccache's, the object is the user's.  ccache_gxx.sh CACHE [OUT]
set -eu
here=$(dirname "$(realpath "$0")")
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
out=${2:-$own}

mkdir -p "$out"
export CCACHE_DIR=$1
ccache g++ -O0 -fPIC -c "$here/k.cc" -o "$out/k.o"
g++ -shared -o "$own/k.so" "$out/k.o"
"$here/check.py" "$own/k.so"
