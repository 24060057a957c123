#!/bin/bash
# A wait that counts: after a minute without the lock it builds anyway.  counted_loop.sh CACHE
set -eu
here=$(dirname "$(realpath "$0")")
cache=$1

mkdir -p "$cache"
held=no
for _ in $(seq 60); do
  [ -e "$cache/k.so" ] && break
  if mkdir "$cache/lock.d" 2>/dev/null; then
    held=yes
    break
  fi
  sleep 1
done
if [ ! -e "$cache/k.so" ]; then
  g++ -shared -fPIC -o "$cache/k.so.$$" "$here/k.cc"
  mv "$cache/k.so.$$" "$cache/k.so"
fi
[ "$held" = no ] || rmdir "$cache/lock.d"
"$here/check.py" "$cache/k.so"
