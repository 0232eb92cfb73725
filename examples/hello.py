"""Ten lines that survive anything: a step, a question, an approval.

Run it with `belayer run examples/hello.py -i name=Ada`, or answer it later from another terminal.
"""

from belayer import Run, act


@act(effect="read")
def greet(name: str) -> str:
    return f"Hello, {name}!"


async def hello(run: Run, name: str = "world") -> str:
    greeting = await run.step("greet", greet, name)
    place = await run.ask("place", "Where should it be said?", choices=["here", "on the roof"])
    if not await run.approve("say it", {"greeting": greeting, "place": place}):
        return "Nothing was said."
    return f"{greeting} (said {place})"
