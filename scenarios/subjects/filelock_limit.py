#!/usr/bin/python3 -IS
"""A lock file with a limit, as filelock.SoftFileLock(timeout=600) has it: filelock_limit.py CACHE"""
import os
import subprocess
import sys
import time

here = os.path.dirname(os.path.abspath(__file__))
cache = sys.argv[1]
library, lock = os.path.join(cache, "k.so"), os.path.join(cache, "k.lock")


def acquire(limit, poll):
    end = time.monotonic() + limit
    while True:
        try:
            os.close(os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_TRUNC))
            return True
        except FileExistsError:
            if time.monotonic() >= end:
                return False
            time.sleep(poll)


def build():
    own = f"{library}.{os.getpid()}"
    subprocess.run(["g++", "-shared", "-fPIC", "-o", own, os.path.join(here, "k.cc")], check=True)
    os.rename(own, library)


os.makedirs(cache, exist_ok=True)
if not os.path.exists(library):
    if acquire(limit=600, poll=0.1):
        if not os.path.exists(library):
            build()
        os.unlink(lock)
    else:
        print("filelock_limit: no lock after 600 s, building without it", file=sys.stderr)
        build()
os.execv(os.path.join(here, "check.py"), ["check.py", library])
