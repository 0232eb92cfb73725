"""Drawings of any answer, with names that want to be more than names."""

import shutil
import subprocess
from pathlib import Path

import pytest

from belayer.codegraph import listing
from belayer.codegraph.arrays import Snapshot
from belayer.codegraph.draw import Drawable, as_dot, as_mermaid, picture_of
from belayer.codegraph.endpoints import endpoints
from belayer.codegraph.graph import Kind, Relation
from belayer.codegraph.impact import Asked, impact
from tests.codegraph.handmade import BY_NAME, Handmade, node_of

HOSTILE = 'x"]; evil [label="<script>alert(1)</script>`#quot;\\\n\u202e%%{init}%%'


def drawn() -> Handmade:
    return (
        Handmade()
        .functions("a.py::f", "b.py::g", f"c.py::{HOSTILE}", "test_a.py::test_f")
        .add(Kind.ENDPOINT, "b.py::GET /x")
        .edge("b.py::GET /x", Relation.SERVES, "b.py::g")
        .calls(("b.py::g", "a.py::f"), (f"c.py::{HOSTILE}", "a.py::f"), ("test_a.py::test_f", "a.py::f"))
        .edge("b.py", Relation.IMPORTS, "a.py")
    )


def answers(graph: Snapshot) -> list[Drawable]:
    node = node_of(graph, "a.py::f")
    return [
        impact(graph, Asked([node], 3, "dependents", BY_NAME, 50)),
        impact(graph, Asked([node_of(graph, "b.py")], 3, "dependencies", BY_NAME, 50)),
        listing.dependencies(graph, node, BY_NAME, 50),
        listing.neighbours(graph, node, 2, BY_NAME, 50),
        listing.whole(graph, "modules", BY_NAME, 50),
        listing.whole(graph, "symbols", BY_NAME, 50),
        listing.modules(graph, None, None, 50, None),
        listing.symbols(graph, "f", 50),
        endpoints(graph, None, 50),
    ]


@pytest.mark.parametrize("number", range(9))
def test_any_answer_can_be_drawn_and_every_edge_has_both_its_ends(tmp_path: Path, number: int) -> None:
    picture = picture_of(answers(drawn().snapshot(tmp_path))[number])
    known = {node.id for node in picture.nodes}
    assert known
    assert all(edge.source in known and edge.target in known for edge in picture.edges)
    assert len(known) == len(picture.nodes)


def test_an_impact_shows_who_is_the_target_a_test_and_an_endpoint(tmp_path: Path) -> None:
    picture = picture_of(answers(drawn().snapshot(tmp_path))[0])
    roles = {node.id: node.role for node in picture.nodes}
    assert roles["a.py::f"] == "target"
    assert roles["b.py::g"] == "hit"
    assert roles["test_a.py::test_f"] == "test"
    assert roles["b.py::GET /x"] == "endpoint"


def test_a_drawing_is_cut_at_its_limit_and_says_so(tmp_path: Path) -> None:
    picture = picture_of(answers(drawn().snapshot(tmp_path))[0], most=2)
    assert len(picture.nodes) == 2
    assert picture.truncated
    assert "more" in as_dot(picture)
    assert "more" in as_mermaid(picture)


def test_a_hostile_name_stays_a_name_in_graphviz(tmp_path: Path) -> None:
    picture = picture_of(answers(drawn().snapshot(tmp_path))[0])
    text = as_dot(picture)
    lines = text.splitlines()
    assert len(lines) == 4 + len(picture.nodes) + len(picture.edges)
    for line in lines[3:-1]:
        unquoted = line.replace("\\\\", "").replace('\\"', "").split('"')[::2]
        assert "evil" not in "".join(unquoted)
        assert "script" not in "".join(unquoted)
    assert "\u202e" not in text


def test_a_hostile_name_stays_a_name_in_mermaid(tmp_path: Path) -> None:
    text = as_mermaid(picture_of(answers(drawn().snapshot(tmp_path))[0]))
    for character in ("<", "`", "{", "%", "\u202e", "\\"):
        assert character not in text
    assert all(line.count('"') in (0, 2) for line in text.splitlines())


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_what_we_write(tmp_path: Path) -> None:
    text = as_dot(picture_of(answers(drawn().snapshot(tmp_path))[0]))
    subprocess.run(["dot", "-Tsvg"], input=text.encode(), check=True, capture_output=True, timeout=30)
