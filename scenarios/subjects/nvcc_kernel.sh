#!/bin/bash
# nvcc alone, into the place where the kernel is looked for.  nvcc_kernel.sh CACHE
set -eu
here=$(dirname "$(realpath "$0")")
cache=$1
nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
[ -x "$nvcc" ] || { echo "nvcc_kernel: there is no nvcc here" >&2; exit 77; }

mkdir -p "$cache"
[ -e "$cache/axpy.cubin" ] || "$nvcc" -cubin -arch=sm_90a -o "$cache/axpy.cubin" "$here/../kernels/axpy.cu"
"$here/check_cubin.py" "$cache/axpy.cubin"
