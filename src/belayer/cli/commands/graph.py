"""Ask what a repository is made of, and what a change in it reaches."""

import contextlib
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from belayer.cli.company import drive_on
from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.graphs import AnyAnswer, draw_answer, tell_built
from belayer.cli.options import AsJson, Home, NoInput
from belayer.codegraph.answers import Risk
from belayer.codegraph.build import Progress
from belayer.codegraph.draw import as_dot, as_mermaid, picture_of
from belayer.codegraph.graph import Confidence
from belayer.engine import Engine
from belayer.vocabulary.commands import Start
from belayer.vocabulary.errors import UnfitInput
from belayer.workflows.graph import workflow
from belayer.workflows.graph.repositories import Repository
from belayer.workspace.repo_url import read_repo_url

if TYPE_CHECKING:
    from belayer.codegraph.codegraph import CodeGraph


class Action(StrEnum):
    """What is wanted."""

    BUILD = "build"
    IMPACT = "impact"
    ENDPOINTS = "endpoints"
    DEPENDENCIES = "dependencies"
    MODULES = "modules"
    SYMBOLS = "symbols"
    RISK = "risk"
    DRAW = "draw"


class Direction(StrEnum):
    """Which way a change is followed."""

    DEPENDENTS = "dependents"
    DEPENDENCIES = "dependencies"


class Sureness(StrEnum):
    """How sure an edge must be."""

    RESOLVED = "resolved"
    INFERRED = "inferred"
    BY_NAME = "by-name"


class Drawing(StrEnum):
    """How an answer is drawn."""

    DOT = "dot"
    MERMAID = "mermaid"


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a person asks for."""

    action: Action
    targets: list[str]
    depth: int
    direction: Direction
    least: Confidence
    tag: str | None
    limit: int
    drawing: Drawing | None


_CONFIDENCE = {
    Sureness.RESOLVED: Confidence.RESOLVED,
    Sureness.INFERRED: Confidence.INFERRED,
    Sureness.BY_NAME: Confidence.BY_NAME,
}
_NEEDS_TARGET = (Action.IMPACT, Action.DEPENDENCIES, Action.SYMBOLS, Action.RISK)


def graph(
    repo: Annotated[
        str, typer.Argument(metavar="REPO", help="A folder, the address of a repository, or a graph's id.")
    ],
    action: Annotated[Action, typer.Argument(help="What to do or to ask.")] = Action.BUILD,
    targets: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[TARGET]...",
            help="A path, dotted name or symbol; for endpoints a pattern; for symbols what to look for.",
            show_default=False,
        ),
    ] = None,
    depth: Annotated[int, typer.Option(min=1, max=20, help="How many references far.")] = 3,
    direction: Annotated[
        Direction, typer.Option(help="Who needs it, or what it needs.")
    ] = Direction.DEPENDENTS,
    least: Annotated[Sureness, typer.Option(help="Leave out edges that are less sure.")] = Sureness.BY_NAME,
    tag: Annotated[str | None, typer.Option(help="Only modules with this tag.", show_default=False)] = None,
    limit: Annotated[int, typer.Option(min=1, max=20_000, help="At most so many of each.")] = 50,
    drawing: Annotated[
        Drawing | None,
        typer.Option("--format", help="Print a drawing of the answer instead.", show_default=False),
    ] = None,
    no_input: NoInput = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Build the graph of a repository, and ask it: what is there, what a change reaches, which tests to run."""
    if action in _NEEDS_TARGET and not targets:
        raise typer.BadParameter("Say what to ask about.", param_hint="TARGET")
    if action is Action.DRAW:
        drawing = drawing or Drawing.MERMAID
    asked = _Asked(action, targets or [], depth, direction, _CONFIDENCE[least], tag, limit, drawing)

    folder = Path(repo)
    is_address = not folder.is_dir() and ("/" in repo or ":" in repo)

    async def work(desk: Desk) -> int:
        if is_address:
            return await _work_on_address(desk, repo, asked)
        async with desk.engine() as engine:
            repository = _named(engine, repo)
            async with _up_to_date(desk, engine, repository, asked.action) as (repository, open_graph):
                if asked.action is Action.BUILD:
                    tell_built(desk, repository)
                else:
                    await _answer(desk, open_graph, asked)
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json, no_input=no_input)


def _named(engine: Engine, repo: str) -> Repository:
    if Path(repo).is_dir():
        return engine.repositories.in_folder(Path(repo))
    return engine.repositories.find(repo)


@contextlib.asynccontextmanager
async def _up_to_date(
    desk: Desk, engine: Engine, repository: Repository, action: Action
) -> AsyncGenerator[tuple[Repository, "CodeGraph"]]:
    """The graph of what is in the folder now: what has changed since is read again first."""
    repositories = engine.repositories
    first = repository.built is None
    said = "Reading the repository for the first time" if first else "Looking for changes"
    with desk.screen.waiting(said) as update:

        def tell(progress: Progress) -> None:
            update(f"{said}: {progress.stage} {progress.done:,} of {progress.total:,}")

        if repository.commit is None or action is Action.BUILD:
            async with repositories.alone(repository.id):
                repository = await repositories.build(repository, repository.commit, tell)
    yield repository, await repositories.graph(repository)


async def _work_on_address(desk: Desk, written: str, asked: _Asked) -> int:
    """Another machine's repository: fetched and built in a session, then asked from what lies here."""
    url = read_repo_url(written)
    async with desk.engine() as engine:
        repository = engine.repositories.at_url(url)
        if asked.action is not Action.BUILD:
            if repository.built is None:
                raise UnfitInput(
                    f"There is no graph of {url.text} yet.",
                    f"Build it first: {desk.command('graph', written, 'build')}",
                )
            await _answer(desk, await engine.repositories.graph(repository), asked)
            return Exit.DONE
        command = Start(workflow=workflow.NAME, input={"repo_url": written}, title=f"Graph of {url.name}")
        session_id = await engine.begin(command)
    return await drive_on(desk, session_id, ())


async def _answer(desk: Desk, graph: "CodeGraph", asked: _Asked) -> None:
    answer = await _asked(graph, asked)
    if asked.drawing is not None and not isinstance(answer, Risk):
        picture = picture_of(answer, most=asked.limit)
        text = as_dot(picture) if asked.drawing is Drawing.DOT else as_mermaid(picture)
        desk.screen.answer({"drawing": text})
        desk.screen.say(text)
        return
    desk.screen.answer(answer.model_dump(mode="json"))
    draw_answer(desk, answer)


async def _asked(graph: "CodeGraph", asked: _Asked) -> AnyAnswer:
    match asked.action:
        case Action.MODULES:
            return await graph.modules(tag=asked.tag, query=_first(asked), limit=asked.limit)
        case Action.ENDPOINTS:
            return await graph.endpoints(" ".join(asked.targets) or None, limit=asked.limit)
        case Action.DEPENDENCIES:
            return await graph.dependencies(asked.targets[0], least=asked.least, limit=asked.limit)
        case Action.SYMBOLS:
            return await graph.symbols(" ".join(asked.targets), limit=asked.limit)
        case Action.RISK:
            return await graph.risk(asked.targets)
        case Action.IMPACT:
            return await graph.impact(
                asked.targets,
                depth=asked.depth,
                direction=asked.direction.value,
                least=asked.least,
                limit=asked.limit,
            )
        case Action.DRAW | Action.BUILD:
            return await graph.graph(limit=asked.limit, least=asked.least)


def _first(asked: _Asked) -> str | None:
    return asked.targets[0] if asked.targets else None
