"""From the facts of all files to the nodes and edges of each. Pure: equal facts give equal graphs, file by file.

What a file's links depend on is remembered as keys (see keys.py), so that an edit links again only the files
that looked at what it changed.
"""

from array import array
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from belayer.codegraph.facts import Facts
from belayer.codegraph.graph import Edge, Node
from belayer.codegraph.languages.catalog import LANGUAGES
from belayer.codegraph.link import keys
from belayer.codegraph.link.evaluator import Evaluator
from belayer.codegraph.link.marks import Marks
from belayer.codegraph.link.module import Module
from belayer.codegraph.link.notes import Notes
from belayer.codegraph.link.weaver import Weaver
from belayer.codegraph.link.world import Library, World, folders_of


class Linked(NamedTuple):
    """What one file gives to the graph: its nodes, every edge that starts in it, what the linker remembers of it."""

    path: str
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    memory: bytes


class Linker:
    """Links files. One linker sees one state of the library; a change needs a new one, which costs little to make.

    What is `kept` outlives it: files as arranged for looking up, used again as long as their facts are the same
    objects.
    """

    def __init__(self, library: Library, kept: dict[str, Module] | None = None) -> None:
        self._library = library
        self._notes = Notes()
        self._world = World(library, self._notes, {} if kept is None else kept)
        self._weaver = Weaver(Evaluator(self._world, self._notes))

    def arrange(self) -> None:
        """Do once what every process would do that is forked to link a share of the paths."""
        self._world.arrange()

    def link(self, paths: Iterable[str]) -> Iterator[Linked]:
        """The files' part of the graph. It depends on the library alone, so that processes can share the paths."""
        for path in paths:
            self._notes.begin()
            module = self._world.module(path)
            if module is not None:
                nodes, edges = self._weaver.weave(module)
                yield Linked(path, nodes, edges, array("I", sorted(self._notes.all_keys())).tobytes())

    def affected(
        self,
        before: Mapping[str, Facts | None],
        manifests: Mapping[str, str],
        memories: Marks,
    ) -> set[str]:
        """The files to link again now that some changed; the library is the state after the change.

        `before` has the old facts of every file that was changed, added (None) or removed, `manifests` the old
        manifests, and `memories` what was remembered of each file when it was last linked. Linking these again and
        dropping what the removed files gave leads to the same graph as linking everything.
        """
        changed: set[int] = set()
        for path, facts in before.items():
            changed |= keys.changes(facts, self._library.facts(path))
        changed |= self._folders(before)
        names = {name for language in LANGUAGES for name in language.manifests}
        changed |= keys.changed_manifests(manifests, self._library.manifests(), names)
        there = self._world.paths.keys()
        return (before.keys() | memories.having_any(changed)) & there

    def _folders(self, before: Mapping[str, Facts | None]) -> set[int]:
        """The keys of the folders that got their first file or lost their last."""
        there = self._world.paths.keys()
        came = {path for path, facts in before.items() if facts is None and path in there}
        went = {path for path, facts in before.items() if facts is not None and path not in there}
        if not came and not went:
            return set()
        new, old = folders_of(there), folders_of((there - came) | went)
        return {keys.key(keys.FOLDER, folder) for folder in new ^ old}
