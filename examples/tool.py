"""A tool of one's own, used by a plan: count the words of a file in the workspace.

python examples/tool.py
"""

import asyncio
import tempfile
from pathlib import Path

from belayer import Effect, Json, Params, Reach, Tool, Workspace, open_engine


class Count(Params):
    path: str


async def count(params: Count, workspace: Workspace) -> Json:
    text = await asyncio.to_thread(workspace.root.read, params.path)
    return {"words": len(text.split())}


WORDS = Tool(
    "words",
    "Count the words of a file.",
    Count,
    count,
    effect=Effect.READ,
    timeout=10,
    reach=lambda params: Reach(paths=(params.path,)),
)

PLAN: dict[str, Json] = {
    "steps": [
        {"id": "poem", "tool": "files.write", "params": {"path": "poem.txt", "content": "ropes hold us"}},
        {"id": "count", "tool": "words", "params": {"path": "{{steps.poem.output.path}}"}},
    ]
}


async def main() -> Json:
    with tempfile.TemporaryDirectory() as folder:
        async with open_engine(Path(folder, "home"), tools=[WORDS]) as engine:
            session = await engine.carry_out(PLAN)
            return await session.result()


if __name__ == "__main__":
    print(asyncio.run(main()))
