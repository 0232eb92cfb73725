"""Workflows that the tests of the command line run."""

import asyncio
from pathlib import Path

from belayer import Run, act


@act(effect="read")
def shout(text: str) -> str:
    return text.upper()


@act(effect="write", idempotent=True)
def note(place: Path, text: str) -> int:
    """Leaves a line each time it is done."""
    with place.open("a", encoding="utf-8") as lines:
        return lines.write(f"{text}\n")


@act(effect="read", timeout=60)
async def wait_for(file: Path) -> bool:
    while not file.exists():
        await asyncio.sleep(0.01)
    return True


@act(effect="read")
def fail(text: str) -> str:
    raise ValueError(text)


async def plain(run: Run, name: str = "world") -> str:
    """Ends by itself."""
    return await run.step("shout", shout, name)


async def ask(run: Run) -> str:
    return await run.ask("colour", "Which colour?", choices=["red", "blue"])


async def text(run: Run) -> str:
    return await run.ask("name", "What is your name?")


async def sure(run: Run) -> bool:
    return await run.ask("sure", "Are you sure?", kind="confirm")


async def form(run: Run) -> dict[str, object]:
    fields = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "pets": {"type": "array"}},
        "required": ["name", "age"],
    }
    return await run.ask("form", "Who are you?", form=fields)


async def approval(run: Run, content: str = "drop the table") -> dict[str, object]:
    decision = await run.approve("plan", {"what": content}, title="The plan")
    return {"approved": bool(decision), "notes": decision.notes}


async def two(run: Run) -> list[str]:
    """Asks two things at once."""

    async def branch(run: Run) -> str:
        return await run.ask("which", "Which one?")

    return await run.parallel("both", [branch, branch])


async def held(run: Run, gate: Path, notes: Path) -> str:
    """Writes a line, waits for a file, writes another."""
    await run.plan(("before", "Write before"), ("gate", "Wait for the gate"), ("after", "Write after"))
    await run.step("before", note, notes, "before")
    await run.log("at the gate")
    await run.step("gate", wait_for, gate)
    await run.step("after", note, notes, "after")
    return "through"


async def written(run: Run, notes: Path) -> str:
    """Some steps, an effect and an answer to go back over."""
    await run.step("read", shout, "a")
    await run.checkpoint("before the write")
    await run.step("write", note, notes, "written")
    answer = await run.ask("more", "More?")
    return f"{answer}"


async def nap(run: Run) -> str:
    await run.sleep(0.05)
    return "awake"


async def broken(run: Run, text: str = "boom") -> str:
    await run.step("good", shout, "x")
    return await run.step("bad", fail, text)


async def loud(run: Run, text: str) -> dict[str, str]:
    """Shows a text everywhere a session can."""
    await run.log(text)
    await run.step("step", shout, text)
    await run.approve("approval", {"text": text}, title=text)
    return {"text": text}


async def long(run: Run, count: int = 300) -> int:
    await run.plan(*(f"step {number}" for number in range(count)))
    for number in range(count):
        await run.step(f"step {number}", shout, str(number))
    return count
