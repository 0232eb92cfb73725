"""What a change reaches, and by which way."""

from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from belayer.codegraph.arrays import Snapshot
from belayer.codegraph.closure import UNSEEN, Further, search, way, within
from belayer.codegraph.graph import Confidence, Relation
from tests.codegraph.handmade import BY_NAME, INFERRED, Handmade, node_of


def reached(
    graph: Snapshot, *start: str, depth: int = 9, least: Confidence = BY_NAME, dependents: bool = True
) -> dict[str, int]:
    nodes = within(graph, [node_of(graph, node) for node in start])
    found = search(graph, nodes, depth, least, dependents=dependents)
    return {graph.ids[node]: int(found.depth[node]) for node in found.nodes(depth)}


def test_callers_of_callers_are_reached_up_to_the_depth(tmp_path: Path) -> None:
    graph = (
        Handmade()
        .functions("a.py::f", "b.py::g", "c.py::h", "d.py::i")
        .calls(("b.py::g", "a.py::f"), ("c.py::h", "b.py::g"), ("d.py::i", "c.py::h"))
        .snapshot(tmp_path)
    )
    assert reached(graph, "a.py::f", depth=2) == {"b.py::g": 1, "c.py::h": 2}
    assert reached(graph, "d.py::i", dependents=False) == {"c.py::h": 1, "b.py::g": 2, "a.py::f": 3}


def test_a_whole_class_begins_with_all_its_methods(tmp_path: Path) -> None:
    graph = (
        Handmade()
        .classes("a.py::C")
        .methods("a.py::C.m")
        .functions("b.py::g")
        .calls(("b.py::g", "a.py::C.m"))
        .snapshot(tmp_path)
    )
    assert reached(graph, "a.py::C") == {"b.py::g": 1}
    assert reached(graph, "a.py") == {"b.py::g": 1}


def test_who_imports_a_module_or_is_in_the_same_one_is_not_reached_by_that(tmp_path: Path) -> None:
    graph = (
        Handmade()
        .functions("a.py::f", "a.py::other", "b.py::g")
        .edge("b.py", Relation.IMPORTS, "a.py")
        .snapshot(tmp_path)
    )
    assert reached(graph, "a.py::f") == {}


def test_a_subclass_is_reached_from_its_base_class_but_not_from_one_of_its_methods(tmp_path: Path) -> None:
    graph = (
        Handmade()
        .classes("a.py::Base", "b.py::Sub")
        .methods("a.py::Base.m")
        .edge("b.py::Sub", Relation.INHERITS, "a.py::Base")
        .snapshot(tmp_path)
    )
    assert reached(graph, "a.py::Base") == {"b.py::Sub": 1}
    assert reached(graph, "a.py::Base.m") == {}


def overriding() -> Handmade:
    """caller -> Base.m; Sub.m and Other.m override it."""
    return (
        Handmade()
        .classes("base.py::Base", "sub.py::Sub", "other.py::Other")
        .methods("base.py::Base.m", "sub.py::Sub.m", "other.py::Other.m")
        .functions("use.py::caller", "use.py::above")
        .edge("sub.py::Sub.m", Relation.OVERRIDES, "base.py::Base.m")
        .edge("other.py::Other.m", Relation.OVERRIDES, "base.py::Base.m")
        .calls(("use.py::caller", "base.py::Base.m"), ("use.py::above", "use.py::caller"))
    )


def test_who_calls_an_overridden_method_is_one_hop_from_the_overriding_one(tmp_path: Path) -> None:
    graph = overriding().snapshot(tmp_path)
    assert reached(graph, "sub.py::Sub.m") == {"use.py::caller": 1, "use.py::above": 2}


def test_an_overridden_methods_change_reaches_the_overriding_ones(tmp_path: Path) -> None:
    graph = overriding().snapshot(tmp_path)
    assert reached(graph, "base.py::Base.m", depth=1) == {
        "sub.py::Sub.m": 1,
        "other.py::Other.m": 1,
        "use.py::caller": 1,
    }


def test_what_a_call_may_end_in_is_a_dependency_of_the_caller(tmp_path: Path) -> None:
    graph = overriding().snapshot(tmp_path)
    assert reached(graph, "use.py::caller", dependents=False) == {
        "base.py::Base.m": 1,
        "sub.py::Sub.m": 1,
        "other.py::Other.m": 1,
    }


def test_dynamic_dispatch_is_inferred_at_best_and_its_way_says_so(tmp_path: Path) -> None:
    graph = overriding().snapshot(tmp_path)
    start = np.array([node_of(graph, "sub.py::Sub.m")], np.int32)
    found = search(graph, start, 3)
    above = node_of(graph, "use.py::above")
    assert found.confidence[above] == INFERRED
    told = [(graph.relation(edge), graph.ids[graph.source[edge]]) for edge in way(graph, found, above)]
    assert told == [
        (Relation.CALLS, "use.py::above"),
        (Relation.CALLS, "use.py::caller"),
        (Relation.OVERRIDES, "sub.py::Sub.m"),
    ]
    assert reached(graph, "sub.py::Sub.m", least=Confidence.RESOLVED) == {}


def test_of_the_shortest_ways_the_surest_is_told(tmp_path: Path) -> None:
    graph = (
        Handmade()
        .functions("a.py::f", "b.py::weak", "b.py::sure", "c.py::top")
        .calls(("c.py::top", "b.py::weak"), ("c.py::top", "b.py::sure"), ("b.py::sure", "a.py::f"))
        .calls(("b.py::weak", "a.py::f"), confidence=BY_NAME)
        .snapshot(tmp_path)
    )
    found = search(graph, np.array([node_of(graph, "a.py::f")], np.int32), 2)
    top = node_of(graph, "c.py::top")
    assert found.confidence[top] == Confidence.RESOLVED
    assert graph.ids[graph.target[way(graph, found, top)[0]]] == "b.py::sure"


def test_edges_that_are_not_sure_enough_are_not_followed(tmp_path: Path) -> None:
    graph = (
        Handmade()
        .functions("a.py::f", "b.py::g", "c.py::h")
        .calls(("b.py::g", "a.py::f"), confidence=BY_NAME)
        .calls(("c.py::h", "a.py::f"), confidence=INFERRED)
        .snapshot(tmp_path)
    )
    assert reached(graph, "a.py::f", least=INFERRED) == {"c.py::h": 1}


def test_recursion_and_cycles_end(tmp_path: Path) -> None:
    graph = (
        Handmade()
        .functions("a.py::f", "a.py::g")
        .calls(("a.py::f", "a.py::f"), ("a.py::f", "a.py::g"), ("a.py::g", "a.py::f"))
        .snapshot(tmp_path)
    )
    assert reached(graph, "a.py::f", depth=250) == {"a.py::g": 1}


def test_a_search_goes_further_until_it_has_enough(tmp_path: Path) -> None:
    chain = Handmade().functions(*(f"a.py::f{n}" for n in range(6)))
    graph = chain.calls(*((f"a.py::f{n + 1}", f"a.py::f{n}") for n in range(5))).snapshot(tmp_path)
    wanted = np.array([name.endswith(("f3", "f5")) for name in graph.names])
    start = np.array([node_of(graph, "a.py::f0")], np.int32)
    assert search(graph, start, 1, further=Further(9, wanted, 1)).depth[node_of(graph, "a.py::f4")] == UNSEEN
    assert search(graph, start, 1, further=Further(9, wanted, 2)).depth[node_of(graph, "a.py::f5")] == 5


RELATIONS = st.sampled_from(
    [Relation.CALLS, Relation.USES, Relation.INHERITS, Relation.OVERRIDES, Relation.TESTS]
)
NODES = st.integers(0, 7)


@settings(max_examples=150)
@given(
    edges=st.lists(st.tuples(NODES, RELATIONS, NODES, st.sampled_from(Confidence)), max_size=25),
    start=NODES,
    least=st.sampled_from(Confidence),
)
def test_dependents_and_dependencies_are_each_others_mirror_and_every_way_leads_home(
    tmp_path_factory, edges, start: int, least: Confidence
) -> None:
    made = Handmade().functions(*(f"m{n % 3}.py::f{n}" for n in range(8)))
    for source, relation, target, confidence in edges:
        made.edge(f"m{source % 3}.py::f{source}", relation, f"m{target % 3}.py::f{target}", confidence)
    graph = made.snapshot(tmp_path_factory.mktemp("graph"))
    ids = [node_of(graph, f"m{n % 3}.py::f{n}") for n in range(8)]
    beginning = np.array([ids[start]], np.int32)
    found = search(graph, beginning, 1, least)
    for node in ids:
        back = search(graph, np.array([node], np.int32), 1, least, dependents=False)
        if node != ids[start]:
            assert (found.depth[node] == 1) == (back.depth[ids[start]] == 1)
    for dependents in (True, False):
        deep = search(graph, beginning, 9, least, dependents=dependents)
        for node in deep.nodes(9):
            edges_on_way = way(graph, deep, int(node), dependents=dependents)
            assert min(graph.confidence(edge) for edge in edges_on_way) >= deep.confidence[node] >= least
            hops = sum(not _is_free(graph, edge) for edge in edges_on_way)
            assert hops <= deep.depth[node] <= len(edges_on_way)


def _is_free(graph: Snapshot, edge: int) -> bool:
    return graph.relation(edge) is Relation.OVERRIDES
