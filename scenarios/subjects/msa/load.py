#!/usr/bin/env python3
"""Loads a C++ extension as MSA does, plainly or inside the lock of the fix of its #23: load.py CACHE [--lock]"""
import contextlib
import fcntl
import os
import sys
import warnings

import torch
from torch.utils import cpp_extension

cache = sys.argv[1]
source = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "e.cpp")


@contextlib.contextmanager
def build_lock():
    """The fix, as it is described: whoever uses torch's lock holds this one, so a baton found in it is a dead one's."""
    with open(os.path.join(cache, "build.lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        baton = os.path.join(cache, "lock")
        # From 2.14 on, `lock` is the file of an OS lock: it stays there, and whoever removed it would make two owners.
        if tuple(map(int, torch.__version__.split(".")[:2])) <= (2, 13) and os.path.exists(baton):
            warnings.warn(f"Removing a stale torch extension lock: {baton}")
            os.unlink(baton)
        yield


os.makedirs(cache, exist_ok=True)
with build_lock() if sys.argv[2:] == ["--lock"] else contextlib.nullcontext():
    e = cpp_extension.load(name="e", sources=[source], build_directory=cache, verbose=False, extra_cflags=["-O0"])

if e.plus(40, 2) != 42:
    sys.exit("plus(40, 2) is not 42")
print("plus(40, 2) = 42")
