#!/bin/bash
# A builder that is slow without using a CPU: others wait ten minutes for it, and are right to.  sleepy_builder.sh CACHE
set -eu
here=$(dirname "$(realpath "$0")")
cache=$1

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
if [ ! -e "$cache/k.so" ]; then
  sleep 600
  g++ -shared -fPIC -o "$cache/k.so.new" "$here/k.cc"
  mv "$cache/k.so.new" "$cache/k.so"
fi
flock -u 9
"$here/check.py" "$cache/k.so"
