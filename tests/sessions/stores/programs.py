"""What other processes do to a store in these tests: `python -m tests.sessions.stores.programs NAME PATH …`."""

import asyncio
import resource
import sys
from pathlib import Path

from belayer.sessions.stores.sqlite import SqliteStore
from belayer.vocabulary.errors import StoreError
from belayer.vocabulary.ids import SessionId
from tests.support.records import add, create, named, said


async def append(path: Path, who: str, times: int, session_id: SessionId) -> None:
    """Append again and again; a line for each that was acknowledged."""
    store = await SqliteStore.open(path)
    for number in range(times):
        (record,) = await add(store, session_id, said(f"{who}/{number}"))
        print(record.seq, f"{who}/{number}", flush=True)
    await store.close()


async def fail_to_write(path: Path) -> None:
    """Have the kernel refuse to let any file grow; say how the store takes it, before and after."""
    store = await SqliteStore.open(path)
    await create(store, named(1))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.RLIM_INFINITY))
    for _ in range(2):
        await _say_how_it_ends(store)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await _say_how_it_ends(store)
    await store.close()
    again = await SqliteStore.open(path)
    await _say_how_it_ends(again)
    await again.close()


async def _say_how_it_ends(store: SqliteStore) -> None:
    try:
        (record,) = await add(store, named(1), said("x" * 100_000))
        print(f"seq {record.seq}", flush=True)
    except StoreError as error:
        print(type(error).__name__, flush=True)


if __name__ == "__main__":
    name, path, *rest = sys.argv[1:]
    match name:
        case "append":
            who, times, session_id = rest
            asyncio.run(append(Path(path), who, int(times), SessionId(session_id)))
        case "fail_to_write":
            asyncio.run(fail_to_write(Path(path)))
        case _:
            sys.exit(f"no program {name}")
