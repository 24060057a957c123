#!/bin/bash
# flock(1) with a limit: who waited 5 s for nothing builds for itself.  flock_wait_recipe.sh CACHE
set -eu
here=$(dirname "$(realpath "$0")")
cache=$1

mkdir -p "$cache"
exec 9>"$cache/lock"
if flock -w 5 9; then
  if [ ! -e "$cache/k.so" ]; then
    g++ -shared -fPIC -o "$cache/k.so.new" "$here/k.cc"
    mv "$cache/k.so.new" "$cache/k.so"
  fi
  flock -u 9
  exec "$here/check.py" "$cache/k.so"
fi
own=$(mktemp -d)
trap 'rm -rf "$own"' EXIT
echo "flock_wait_recipe: no lock after 5 s, building my own" >&2
g++ -shared -fPIC -o "$own/k.so" "$here/k.cc"
"$here/check.py" "$own/k.so"
