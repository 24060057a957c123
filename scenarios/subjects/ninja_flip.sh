#!/bin/bash
# Two users of one directory whose linker flags differ, one after the other (as when a path in the flags depends on who
# runs): plain, stripped.  ninja_flip.sh CACHE
set -eu
here=$(dirname "$(realpath "$0")")

"$here/ninja_gxx.sh" "$1"
"$here/ninja_gxx.sh" "$1" -Wl,-s
