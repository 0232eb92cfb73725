"""Which sandbox there is to be: the best that really works here, found by trying, or the one that was asked for.

There is no silent way down: where nothing confines, there is an error, unless somebody has asked for just that.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from secrets import token_hex
from typing import Literal, Protocol

from belayer.sandbox.bubblewrap import Bubblewrap
from belayer.sandbox.camp import Camp, sweep
from belayer.sandbox.landlock import Landlock
from belayer.sandbox.sandbox import Limits, Process, Program, Rung, Sandbox
from belayer.sandbox.unconfined import Unconfined
from belayer.vocabulary.errors import BelayerError, NoSandbox

Wanted = Literal["auto", "bubblewrap", "landlock", "none"]


class _Closable(Protocol):
    """A sandbox that was made here, and is to be closed."""

    @property
    def rung(self) -> Rung: ...

    async def start(self, program: Program) -> Process: ...

    def close(self) -> None: ...


# Best first.
_RUNGS: dict[str, Callable[[Camp, Path | None], _Closable]] = {
    "bubblewrap": Bubblewrap,
    "landlock": Landlock,
}
_PROBE = 'cat "$1" 2>/dev/null && exit 1; echo confined'
_PROBE_LIMITS = Limits(wall_seconds=20.0, cpu_seconds=10)


@asynccontextmanager
async def choose(wanted: Wanted, home: Path | None, *, grouped: bool = True) -> AsyncGenerator[Sandbox]:
    """The sandbox for as long as the block lasts; NoSandbox names what was tried, and why it does not work.

    What dead Belayers have left in this home is cleared away first. `grouped=False` does without control groups.
    """
    if home is not None:
        await sweep(home)
    camp = await asyncio.to_thread(Camp.pitch, home, grouped=grouped)
    sandbox: _Closable | None = None
    try:
        sandbox = Unconfined(camp, home) if wanted == "none" else await _tried(wanted, camp, home)
        yield sandbox
    finally:
        if sandbox is not None:
            sandbox.close()
        await asyncio.to_thread(camp.strike)


async def _tried(wanted: Wanted, camp: Camp, home: Path | None) -> _Closable:
    failures: list[NoSandbox] = []
    for name in _RUNGS if wanted == "auto" else (wanted,):
        try:
            return await _working(name, camp, home)
        except NoSandbox as error:
            failures.append(NoSandbox(f"{name}: {error.detail}", error.hint))
    raise NoSandbox(
        "Programs cannot be confined here, so none is run. Tried: "
        + " ".join(failure.detail for failure in failures),
        " ".join(dict.fromkeys(failure.hint for failure in failures if failure.hint))
        + " Or accept that programs run with all your rights: BELAYER_SANDBOX=none.",
    )


async def _working(name: str, camp: Camp, home: Path | None) -> _Closable:
    """The rung, after it has kept a secret."""
    _refuse_uncounted(camp)
    sandbox = await asyncio.to_thread(_RUNGS[name], camp, home)
    try:
        if problem := await _problem(sandbox, camp):
            raise NoSandbox(problem, f"Read docs/sandbox.md on what {name} needs.")
    except BaseException:
        sandbox.close()
        raise
    return sandbox


def _refuse_uncounted(camp: Camp) -> None:
    """The kernel counts root's processes only in groups; by looking from time to time no fork bomb is held."""
    if camp.groups is None and os.geteuid() == 0:
        raise NoSandbox(
            "Belayer runs as root and can make no cgroup here, so nothing would stop a fork bomb.",
            "Run Belayer as an ordinary user, or give it a writable cgroup.",
        )


async def _problem(sandbox: _Closable, camp: Camp) -> str | None:
    """What is wrong with it: a program must run in it, and must not come to see a file outside."""
    folder, hidden, secret = camp.folder / "probe", camp.folder / "secret", token_hex()
    folder.mkdir(exist_ok=True)
    hidden.write_text(secret)
    program = Program(("/bin/sh", "-c", _PROBE, "sh", str(hidden)), folder, limits=_PROBE_LIMITS)
    try:
        process = await sandbox.start(program)
        said = [line.text async for line in process]
        await process.wait()
    except (BelayerError, OSError) as error:
        return f"no program can be run in it ({error})."
    finally:
        hidden.unlink()
    if secret in "".join(said):
        return "it does not hide files, so it is not used."
    return None if said == ["confined"] else f"a program in it does not work ({' '.join(said)[:300]})."
