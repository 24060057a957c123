#!/usr/bin/python3 -IS
"""What a builder has to do so that a kill at any moment costs a rebuild and nothing else: sound_recipe.py CACHE"""
import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
cache = sys.argv[1]
entry = os.path.join(cache, "k")


def verified():
    """The library's bytes if the entry is whole, else None: that a name is there proves nothing."""
    try:
        with open(os.path.join(entry, "k.so"), "rb") as library, open(os.path.join(entry, "sha256"), "rb") as digest:
            content = library.read()
            return content if hashlib.sha256(content).hexdigest().encode() == digest.read() else None
    except FileNotFoundError:
        return None


def private():
    """A name that was never used: an orphan of a dead builder still writes to its own."""
    return os.path.join(cache, "private-" + os.urandom(8).hex())


def sync(path):
    fd = os.open(path, os.O_RDONLY)
    os.fsync(fd)
    os.close(fd)


def clear():
    """Removes what dead builders left; nobody else is in there, the lock is ours."""
    if os.path.exists(entry):  # not whole, or it would have been taken; out of sight before it falls apart
        os.rename(entry, private())
    for name in os.listdir(cache):
        if name.startswith("private-"):
            shutil.rmtree(os.path.join(cache, name), ignore_errors=True)


def build():
    own = private()
    os.mkdir(own)
    library = os.path.join(own, "k.so")
    subprocess.run(["g++", "-shared", "-fPIC", "-o", library, os.path.join(here, "k.cc")], check=True)
    with open(library, "rb") as built, open(os.path.join(own, "sha256"), "w") as digest:
        digest.write(hashlib.sha256(built.read()).hexdigest())
    for path in (library, digest.name, own):
        sync(path)
    os.rename(own, entry)
    sync(cache)


os.makedirs(cache, exist_ok=True)
content = verified()
if content is None:
    lock = os.open(os.path.join(cache, "lock"), os.O_RDWR | os.O_CREAT)  # never removed; freed by death
    fcntl.flock(lock, fcntl.LOCK_EX)
    content = verified()
    if content is None:
        clear()
        build()
        content = verified()
    os.close(lock)
if content is None:
    sys.exit("the entry is not whole after a build")

copy = os.memfd_create("k.so")  # what was verified is what is loaded
os.write(copy, content)
answer = ctypes.CDLL(f"/proc/self/fd/{copy}").answer()
if answer != 42:
    sys.exit(f"answer() is {answer}, not 42")
print("answer() = 42")
