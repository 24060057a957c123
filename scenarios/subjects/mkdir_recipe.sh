#!/bin/bash
# mkdir as a lock, as in a thousand scripts: nobody removes it for the dead.  mkdir_recipe.sh CACHE
set -eu
here=$(dirname "$(realpath "$0")")
cache=$1

mkdir -p "$cache"
until mkdir "$cache/lock.d" 2>/dev/null; do sleep 0.1; done
trap 'rmdir "$cache/lock.d"' EXIT
[ -e "$cache/k.so" ] || g++ -shared -fPIC -o "$cache/k.so" "$here/k.cc"
"$here/check.py" "$cache/k.so"
