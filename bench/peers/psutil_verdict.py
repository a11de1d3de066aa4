#!/usr/bin/python3
"""What Python's psutil takes for layers 1 and 2: is the pid held, by the process that was recorded?

Starts 1,000 processes that do nothing, records (pid, create_time) of each, then asks for all again,
as careful users of psutil do: Process(pid).is_running() compares the creation time, status() tells
a zombie. Prints the least time of 9 rounds. Needs the Debian package python3-psutil.
"""
import os
import signal
import sys
import time

try:
    import psutil
except ImportError:
    sys.exit("skipped: psutil: the package python3-psutil is not installed")

COUNT, ROUNDS = 1000, 9


def sleeper():
    pid = os.fork()
    if pid == 0:
        while True:
            signal.pause()
    return pid


def alive(pid, created):
    try:
        process = psutil.Process(pid)
        return process.create_time() == created and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


pids = [sleeper() for _ in range(COUNT)]
try:
    recorded = [(pid, psutil.Process(pid).create_time()) for pid in pids]
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        verdicts = [alive(pid, created) for pid, created in recorded]
        best = min(best, time.perf_counter() - start)
        assert all(verdicts)
    print(f"psutil {psutil.__version__}: {best / COUNT * 1e6:.1f} us for each process's verdict")
finally:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
