"""What another process does in these tests: `python -m tests.sessions.programs hold FOLDER NAME`."""

import sys
from pathlib import Path

from belayer.sessions.lease import LockedDrivers

if __name__ == "__main__":
    _, folder, name = sys.argv[1:]
    with LockedDrivers(Path(folder), name):
        print("held", flush=True)
        sys.stdin.readline()
