#!/bin/bash
# The recipe of flock(1)'s own manual page: one builds, the others wait in the kernel.  flock_recipe.sh CACHE
set -eu
here=$(dirname "$(realpath "$0")")
cache=$1

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
[ -e "$cache/k.so" ] || g++ -shared -fPIC -o "$cache/k.so" "$here/k.cc"
flock -u 9
"$here/check.py" "$cache/k.so"
