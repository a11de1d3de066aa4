#!/usr/bin/env python3
"""How long after `kill -9` of a session `regtool watch` has written its `gone` line.

    bench/watch_deaths.py REGTOOL [SESSIONS] [DEATHS]     (default: 1000 sessions, 200 deaths)

Sessions are `sleep` processes that this script starts and records. One is killed at a time; the clock
runs from just before kill(2) until the line was read from the pipe, so that it holds this script's own
share too. Exits 1 where p99 is 10 ms or more.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time


def start_token(pid):
    """proc(5): field 22 of stat, counted from the last parenthesis."""
    with open(f"/proc/{pid}/stat", "rb") as stat:
        return stat.read().rsplit(b")", 1)[1].split()[19].decode()


def record(home, name, pid, boot_id):
    fields = {
        "session_id": name, "url": None, "pid": pid, "process_start": start_token(pid),
        "boot_id": boot_id, "name": "bench", "version": "1", "workdir": "/",
        "outlives_launcher": False, "started_at": "2026-01-01T00:00:00Z",
    }
    path = os.path.join(home, "running", name + ".json")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as out:
        out.write(json.dumps(fields) + "\n")


def wait_for(lines, key, value, session=None):
    for line in lines:
        entry = json.loads(line)
        if entry.get(key) == value and (session is None or entry["session_id"] == session):
            return entry
    raise SystemExit(f"the watch ended before it said {value}")


def measure(regtool, home, children, deaths):
    watch = subprocess.Popen(
        [regtool, "--home", home, "watch", "--json", "--interval", "1h"], stdout=subprocess.PIPE)
    try:
        wait_for(watch.stdout, "notice", "synced")
        taken = []
        for name, child in list(children.items())[:deaths]:
            begun = time.monotonic_ns()
            os.kill(child.pid, signal.SIGKILL)
            wait_for(watch.stdout, "event", "gone", name)
            taken.append((time.monotonic_ns() - begun) / 1e6)
            child.wait()
        return sorted(taken)
    finally:
        watch.terminate()
        watch.wait()


def main():
    regtool = os.path.abspath(sys.argv[1])
    sessions = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    deaths = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    with open("/proc/sys/kernel/random/boot_id") as source:
        boot_id = source.read().strip()
    children = {}
    with tempfile.TemporaryDirectory() as base:
        home = os.path.join(base, "home")
        os.makedirs(os.path.join(home, "running"), mode=0o700)
        try:
            for i in range(sessions):
                child = subprocess.Popen(["sleep", "3600"])
                children[f"s{i}"] = child
                record(home, f"s{i}", child.pid, boot_id)
            taken = measure(regtool, home, children, deaths)
        finally:
            for child in children.values():
                child.kill()
            for child in children.values():
                child.wait()
    p99 = taken[min(len(taken) - 1, len(taken) * 99 // 100)]
    print(f"{sessions} sessions, {len(taken)} deaths: p50 {taken[len(taken) // 2]:.2f} ms, "
          f"p99 {p99:.2f} ms, worst {taken[-1]:.2f} ms")
    return 0 if p99 < 10 else 1


if __name__ == "__main__":
    sys.exit(main())
