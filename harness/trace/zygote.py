"""Imports modules once, then forks a process for each request, which runs a script as `python3 SCRIPT ARGS` would.

zygote.py LISTENER SCRIPT MODULE...    LISTENER: descriptor of a listening unix socket; "-": import and end
"""
import ctypes
import importlib.machinery
import os
import signal
import socket
import struct
import sys

NOT_IMPORTED, HAS_THREADS, USAGE = 3, 4, 64
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS, PR_SET_PTRACER = 36, 38, 0x59616D61
CLONE_NEWNS = 0x00020000
SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW = 1, 4

libc = ctypes.CDLL(None, use_errno=True)


class Filter(ctypes.Structure):
    _fields_ = [("count", ctypes.c_ushort), ("instructions", ctypes.c_char_p)]


def checked(result, what):
    if result != 0:
        raise OSError(ctypes.get_errno(), "cannot " + what + ": " + os.strerror(ctypes.get_errno()))


def import_all(script, modules):
    # Where the script's own imports look first, as the interpreter would have it.
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(script))
    for name in modules:
        try:
            importlib.import_module(name)
        except BaseException as error:
            print(f"cannot import {name}: {type(error).__name__}: {error}", file=sys.stderr)
            sys.exit(NOT_IMPORTED)
    sys.stdout.flush()
    sys.stderr.flush()


def serve(listener):
    """Returns in a forked child only, with its connection."""
    threads = len(os.listdir("/proc/self/task"))
    if threads != 1:
        print(f"there are {threads} threads after the imports, and a fork keeps one of them", file=sys.stderr)
        sys.exit(HAS_THREADS)
    # Orphans of the children come here, too, and the kernel reaps them.
    libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, before)
            listener.close()
            return connection
        connection.close()


def receive(connection):
    header, descriptors, _, _ = socket.recv_fds(connection, 8, 8)
    if len(header) < 8:
        connection.sendall(b"ready\n")  # it only asked whether anybody is here
        os._exit(0)
    (left,) = struct.unpack("<Q", header)
    body = b""
    while left > len(body):
        more = connection.recv(left - len(body))
        if not more:
            os._exit(0)
        body += more
    parts, at = [], 0
    while at < len(body):
        (size,) = struct.unpack_from("<I", body, at)
        parts.append(body[at + 4 : at + 4 + size])
        at += 4 + size
    return parts, descriptors


def become(connection):
    """Takes the place that the request describes and waits until it is traced. Returns the script's arguments."""
    parts, descriptors = receive(connection)
    directory, tracer, seccomp, program = parts[0], int(parts[1]), int(parts[2]), parts[3]
    words = 5 + int(parts[4])
    arguments = [os.fsdecode(word) for word in parts[5:words]]
    mounts, own = os.fstat(descriptors[3]), os.stat("/proc/self/ns/mnt")
    if (mounts.st_dev, mounts.st_ino) != (own.st_dev, own.st_ino):
        checked(libc.setns(descriptors[3], CLONE_NEWNS), "enter the lane's mounts")
    os.chdir(directory)
    os.setsid()
    for target in range(3):
        os.dup2(descriptors[target], target)
    for descriptor in descriptors:
        os.close(descriptor)
    os.environ.clear()
    for setting in parts[words:]:
        name, _, value = os.fsdecode(setting).partition("=")
        if name:
            os.environ[name] = value
    # What modules keep of the environment, or drew when they were imported; `random` sees to itself.
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed()
    libc.prctl(PR_SET_PTRACER, ctypes.c_ulong(tracer), 0, 0, 0)  # without Yama there is no such call, nor need of it
    checked(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "give up new privileges")
    loaded = Filter(len(program) // 8, program)
    connection.sendall(b"pid %d\n" % os.getpid())
    if connection.recv(1) != b"g":
        os._exit(0)
    connection.close()
    checked(libc.syscall(seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, ctypes.byref(loaded)),
            "install the filter")
    return arguments


def run(arguments):
    script = os.path.abspath(arguments[0])
    sys.argv[:] = arguments
    sys.orig_argv[1:] = arguments
    main = type(sys)("__main__")
    main.__dict__.update(__file__=script, __builtins__=__builtins__, __cached__=None)
    main.__loader__ = importlib.machinery.SourceFileLoader("__main__", script)
    sys.modules["__main__"] = main
    try:
        with open(script, "rb") as file:
            source = file.read()
    except OSError as error:
        print(f"{sys.executable}: can't open file '{script}': [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        sys.exit(2)
    try:
        exec(compile(source, script, "exec", dont_inherit=True), main.__dict__)
    except SystemExit:
        raise
    except BaseException as error:
        sys.excepthook(type(error), error.with_traceback(error.__traceback__.tb_next), error.__traceback__)
        sys.exit(1)


def main():
    if len(sys.argv) < 4:
        print("zygote.py: is started by jitrace", file=sys.stderr)
        sys.exit(USAGE)
    listener, script, modules = sys.argv[1], sys.argv[2], sys.argv[3:]
    import_all(script, modules)
    if listener == "-":
        return
    connection = serve(socket.socket(fileno=int(listener)))
    try:
        arguments = become(connection)
    except BaseException as error:
        try:
            connection.sendall(b"error %s\n" % str(error).replace("\n", " ").encode())
        finally:
            os._exit(USAGE)
    run(arguments)


if __name__ == "__main__":
    main()
