#!/usr/bin/python3 -IS
"""Loads a built library and asks it: check.py LIBRARY"""
import ctypes
import sys

answer = ctypes.CDLL(sys.argv[1]).answer()
if answer != 42:
    sys.exit(f"answer() is {answer}, not 42")
print("answer() = 42")
