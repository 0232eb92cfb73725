"""Small repositories as dicts of path and source, and their graphs as lines that read like sentences."""

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from belayer.codegraph.facts import Facts
from belayer.codegraph.graph import Edge, Node, Relation
from belayer.codegraph.languages.catalog import LANGUAGES, language_of
from belayer.codegraph.link.linker import Linked, Linker
from belayer.codegraph.link.marks import Marks
from belayer.codegraph.link.words import words_of


class Shelf:
    """A library in memory: sources in, facts out."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        texts = {path: textwrap.dedent(source) for path, source in sources.items()}
        self._facts = {path: facts for path, text in texts.items() if (facts := read(path, text)) is not None}
        self._manifests = {path: text for path, text in texts.items() if is_manifest(path)}

    def paths(self) -> Iterable[str]:
        return sorted(self._facts)

    def facts(self, path: str) -> Facts | None:
        return self._facts.get(path)

    def words(self) -> Marks:
        return Marks({path: words_of(facts) for path, facts in self._facts.items()})

    def manifests(self) -> Mapping[str, str]:
        return self._manifests


def read(path: str, text: str) -> Facts | None:
    """The facts of one source, by the language of its path."""
    language = language_of(path)
    return language.read(path, text.encode()) if language is not None else None


def is_manifest(path: str) -> bool:
    return any(PurePosixPath(path).match(name) for language in LANGUAGES for name in language.manifests)


def linked(sources: Mapping[str, str]) -> list[Linked]:
    """Each file's part of the graph."""
    shelf = Shelf(sources)
    return list(Linker(shelf).link(shelf.paths()))


def nodes(sources: Mapping[str, str]) -> dict[str, Node]:
    """The nodes by id."""
    return {node.id: node for part in linked(sources) for node in part.nodes}


def edges(sources: Mapping[str, str], *relations: Relation) -> list[str]:
    """The edges as sorted lines, without places: `main.py::f -calls-> lib.py::g resolved`; calls, unless told."""
    wanted = relations or (Relation.CALLS,)
    found = (edge for part in linked(sources) for edge in part.edges if edge.relation in wanted)
    return sorted({line(edge) for edge in found})


def line(edge: Edge) -> str:
    return f"{edge.source} -{edge.relation}-> {edge.target} {edge.confidence.name.lower()}"
