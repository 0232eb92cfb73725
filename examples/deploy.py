"""A deployment that cannot happen twice: effects with an idempotency key and a probe, checks side by side, a pause.

The "servers" are folders, so that it runs anywhere: `belayer run examples/deploy.py -i version=1.2 -i servers=/tmp/s`.
Kill it wherever you like and go on with `belayer resume ID`.
"""

import asyncio
from pathlib import Path

from belayer import DidNotHappen, Happened, Run, TransientError, act, this_step

SERVERS = ("amsterdam", "nairobi", "lima")


@act(effect="read", timeout=30)
async def check(server: Path) -> str:
    """Only reads, so it may be repeated at will; a TransientError is tried again by itself."""
    if not server.parent.is_dir():
        raise TransientError(f"{server.parent} is not there yet.", "Create it, or wait.")
    await asyncio.sleep(0.05)
    return f"{server.name} is healthy"


async def installed(server: Path, version: str) -> Happened | DidNotHappen:
    """What really happened? Asked when a crash leaves that open, so that nobody has to guess."""
    if (server / "VERSION").is_file() and (server / "VERSION").read_text() == version:
        return Happened(f"{server.name} runs {version}")
    return DidNotHappen()


@act(effect="external", probe=installed)
async def install(server: Path, version: str) -> str:
    """Changes the world and is not repeatable by itself: its beginning is on record before it acts."""
    server.mkdir(exist_ok=True)
    with (server / "history").open("a") as history:
        history.write(f"{version}\n")
    (server / "VERSION").write_text(version)
    return f"{server.name} runs {version}"


@act(effect="external", idempotent=True)
def announce(servers: Path, text: str) -> str:
    """May be repeated because the other side knows the key: one message per key, however often it is sent."""
    message = servers / f"message-{this_step().idempotency_key}.txt"
    message.write_text(text)
    return message.name


async def deploy(run: Run, version: str, servers: Path, soak_seconds: float = 1.0) -> dict[str, object]:
    """Check all servers, ask, install on the first, wait a while, then on the others."""
    await run.plan(
        *((f"checks/{place}/check", f"Check {name}") for place, name in enumerate(SERVERS)),
        ("first", f"Install on {SERVERS[0]}"),
        ("sleep", "See whether it stays up"),
        *((f"rest/{place}/install", f"Install on {name}") for place, name in enumerate(SERVERS[1:])),
        ("announce", "Announce it"),
    )
    targets = [servers / name for name in SERVERS]
    checked = await run.parallel("checks", [_check(target) for target in targets])

    decision = await run.approve(
        "release", {"version": version, "servers": checked}, title=f"Release {version}?"
    )
    if not decision:
        return {"released": False, "because": decision.notes}

    first, *rest = targets
    done = [await run.step("first", install, first, version)]
    await run.sleep(soak_seconds)  # costs nothing: the process may end, the timer is on record
    done += await run.parallel("rest", [_install(target, version) for target in rest])
    await run.step("announce", announce, servers, f"{version} is out")
    return {"released": True, "servers": done}


def _check(server: Path):
    async def branch(run: Run) -> str:
        return await run.step("check", check, server)

    return branch


def _install(server: Path, version: str):
    async def branch(run: Run) -> str:
        return await run.step("install", install, server, version)

    return branch
