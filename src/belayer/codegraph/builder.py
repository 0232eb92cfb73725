"""The build's own process: hostile sources meet C code here, under limits, and not in the server.

Run by its path. It takes requests as lines of JSON from its input and answers with lines of JSON: progress, then what
was built or why not. It ends with its input, so one that stays is a warm one.
"""

import gc
import json
import resource
import sys
import time
import traceback
from pathlib import Path
from types import ModuleType

_MEMORY = 6 * 1024**3
_CPU_SECONDS = 3_600
_TELL_EVERY = 0.1


def main() -> None:
    _only_this_part()
    _limit()
    gc.disable()
    from belayer.codegraph.making import Job, look_ahead, make  # noqa: PLC0415 - importable only now
    from belayer.codegraph.shelf import Kept  # noqa: PLC0415

    kept = Kept()
    for line in sys.stdin:
        wanted = json.loads(line)
        job = Job(
            Path(wanted["folder"]),
            Path(wanted["store"]),
            _Teller().tell,
            kept,
            is_commit=wanted["is_commit"],
            is_careful=wanted["is_careful"],
        )
        try:
            built = make(job)
        except OSError as error:
            _say({"failed": "os", "errno": error.errno, "what": str(error)})
        except Exception:  # noqa: BLE001 - the last words of a process: told to whoever started it
            _say({"failed": "error", "what": traceback.format_exc(limit=-8)})
        else:
            _say({"built": built})
            look_ahead(kept)
        gc.collect()
        gc.freeze()  # what is kept has no cycles: nobody need look through it again


class _Teller:
    """Tells how far things are, but not too often."""

    def __init__(self) -> None:
        self._told, self._stage = 0.0, ""

    def tell(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage or now - self._told >= _TELL_EVERY or done == total:
            self._told, self._stage = now, stage
            _say({"stage": stage, "done": done, "total": total})


def _say(message: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _only_this_part() -> None:
    """Make `belayer` importable without what its own `__init__` imports: the engine takes half a second."""
    package = ModuleType("belayer")
    package.__path__ = [str(Path(__file__).parent.parent)]
    sys.modules.setdefault("belayer", package)


def _limit() -> None:
    for kind, most in (
        (resource.RLIMIT_AS, _MEMORY),
        (resource.RLIMIT_CPU, _CPU_SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(kind)[1]
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (wanted, hard))


if __name__ == "__main__":
    main()
