"""A repository's graph to ask questions of. Cheap to hold open: it loads what changed when it is asked again."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from belayer.codegraph import listing
from belayer.codegraph.answers import (
    Dependencies,
    Direction,
    Endpoints,
    Graph,
    Impact,
    Modules,
    Neighbours,
    Risk,
    Symbols,
)
from belayer.codegraph.build import Builder, Built, OnProgress
from belayer.codegraph.churn import Changes, History, changes, history_of
from belayer.codegraph.closure import search, within
from belayer.codegraph.endpoints import endpoints
from belayer.codegraph.graph import Confidence
from belayer.codegraph.impact import Asked, impact
from belayer.codegraph.loading import Loaded, State
from belayer.codegraph.risk import RISK_DEPTH, assess

Answered = TypeVar("Answered")
_DEEPEST = 50
_MOST = 10_000
_DEEPEST_NEIGHBOURS = 5


class CodeGraph:
    """One repository's graph. Questions may be asked at the same time; each sees one state of it."""

    def __init__(
        self, folder: Path, store: Path, git_dir: Path | None = None, *, is_commit: bool = False
    ) -> None:
        self._git_dir = git_dir or folder / ".git"
        self._loaded = Loaded(store)
        self._builder = Builder(folder, store, is_commit=is_commit)
        self._turn = asyncio.Lock()
        self._history: History | None = None
        self._changes: Changes | None = None

    @classmethod
    async def open(
        cls, folder: Path, store: Path, git_dir: Path | None = None, *, is_commit: bool = False
    ) -> "CodeGraph":
        """The graph that was built of the folder; GraphMissing if there is none yet.

        `git_dir` is where the folder's history is, if not in its `.git`; see `build` for `is_commit`.
        """
        graph = cls(folder, store, git_dir, is_commit=is_commit)
        await graph._ask(lambda _state: None)
        return graph

    async def update(self, on_progress: OnProgress | None = None) -> Built:
        """Bring the graph up to date with the folder."""
        return await self._builder.build(on_progress)

    async def modules(
        self, tag: str | None = None, query: str | None = None, limit: int = 100, after: str | None = None
    ) -> Modules:
        """The modules, by path; those with a tag, or with a text in their path or name."""
        return await self._ask(lambda state: listing.modules(state.graph, tag, query, _most(limit), after))

    async def impact(
        self,
        targets: Sequence[str],
        depth: int = 3,
        direction: Direction = "dependents",
        least: Confidence = Confidence.BY_NAME,
        limit: int = 100,
    ) -> Impact:
        """What a change of the targets reaches, or what they need."""
        past = await self._past()

        def answered(state: State) -> Impact:
            asked = Asked(
                _nodes(state, targets), min(max(depth, 0), _DEEPEST), direction, least, _most(limit)
            )
            return impact(state.graph, asked, past)

        return await self._ask(answered)

    async def risk(self, targets: Sequence[str]) -> Risk:
        """How much can go wrong when the targets change."""
        past = await self._past()

        def answered(state: State) -> Risk:
            nodes = _nodes(state, targets)
            start = within(state.graph, nodes)
            return assess(state.graph, nodes, start, search(state.graph, start, RISK_DEPTH), past)

        return await self._ask(answered)

    async def endpoints(self, pattern: str | None = None, limit: int = 100) -> Endpoints:
        """The endpoints of a path, a pattern, or all."""
        return await self._ask(lambda state: endpoints(state.graph, pattern, _most(limit)))

    async def dependencies(
        self, target: str, least: Confidence = Confidence.BY_NAME, limit: int = 100
    ) -> Dependencies:
        """What is one reference away from a module or symbol, in both directions."""
        return await self._ask(
            lambda state: listing.dependencies(state.graph, state.targets.node(target), least, _most(limit))
        )

    async def symbols(self, query: str, limit: int = 20) -> Symbols:
        """Symbols by name, best first."""
        return await self._ask(lambda state: listing.symbols(state.graph, query, _most(limit)))

    async def neighbours(
        self, target: str, depth: int = 1, least: Confidence = Confidence.BY_NAME, limit: int = 200
    ) -> Neighbours:
        """What is around a node."""
        return await self._ask(
            lambda state: listing.neighbours(
                state.graph,
                state.targets.node(target),
                min(max(depth, 0), _DEEPEST_NEIGHBOURS),
                least,
                _most(limit),
            )
        )

    async def graph(
        self,
        limit: int = 500,
        level: Literal["modules", "symbols"] = "modules",
        least: Confidence = Confidence.BY_NAME,
    ) -> Graph:
        """The whole graph, or its best connected part."""
        return await self._ask(lambda state: listing.whole(state.graph, level, least, _most(limit)))

    async def close(self) -> None:
        await self._builder.close()
        async with self._turn:
            await asyncio.to_thread(self._loaded.close)

    async def _ask(self, question: Callable[[State], Answered]) -> Answered:
        """The answer of the newest state, worked out beside the event loop."""
        async with self._turn:
            state = await asyncio.to_thread(self._loaded.newest)
        return await asyncio.to_thread(question, state)

    async def _past(self) -> Changes | None:
        """What the history tells; read once per commit that is checked out."""
        history = await asyncio.to_thread(history_of, self._git_dir)
        if history != self._history:
            self._changes = await changes(history) if history is not None else None
            self._history = history
        return self._changes


def _nodes(state: State, targets: Sequence[str]) -> list[int]:
    wanted = (targets,) if isinstance(targets, str) else targets
    return list(dict.fromkeys(node for target in wanted for node in state.targets.nodes(target)))


def _most(limit: int) -> int:
    return min(max(limit, 1), _MOST)
