#!/usr/bin/python3
"""Loads a C++ extension as every project on torch does: torch_extension.py CACHE"""
import os
import sys

try:
    from torch.utils import cpp_extension
except ImportError:
    # Debian's torch belongs to Debian's python, and another python may come first on PATH.
    if os.path.realpath(sys.executable) == os.path.realpath("/usr/bin/python3"):
        raise
    os.execv("/usr/bin/python3", ["/usr/bin/python3", *sys.argv])

cache = sys.argv[1]
source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "e.cpp")
os.makedirs(cache, exist_ok=True)
e = cpp_extension.load(name="e", sources=[source], build_directory=cache, verbose=False, extra_cflags=["-O0"])

if e.plus(40, 2) != 42:
    sys.exit("plus(40, 2) is not 42")
print("plus(40, 2) = 42")
