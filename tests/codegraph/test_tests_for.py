"""Which tests are to be run for a change, in which order, and why."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from belayer.codegraph.answers import Impact, TestHit
from belayer.codegraph.arrays import Snapshot
from belayer.codegraph.churn import Changes
from belayer.codegraph.graph import Confidence, Relation
from belayer.codegraph.impact import Asked, impact
from belayer.codegraph.naming import words
from tests.codegraph.handmade import BY_NAME, INFERRED, Handmade, node_of


def asked(
    graph: Snapshot,
    *targets: str,
    commits: Sequence[Sequence[str]] = (),
    least: Confidence = BY_NAME,
    limit: int = 100,
) -> Impact:
    nodes = [node_of(graph, target) for target in targets]
    return impact(graph, Asked(nodes, 3, "dependents", least, limit), Changes({}, commits))


def files(tests: Sequence[TestHit]) -> list[str]:
    return list(dict.fromkeys(hit.symbol.path for hit in tests))


def factors(hit: TestHit) -> set[str]:
    return {reason.factor for reason in hit.reasons}


def crowd(many: int = 200) -> Handmade:
    """A file of very many tests of a function, and one of a single test two references away."""
    made = (
        Handmade()
        .functions("a.py::f", "b.py::g", "tests/test_other.py::test_g")
        .calls(("b.py::g", "a.py::f"))
    )
    made.calls(("tests/test_other.py::test_g", "b.py::g"))
    ids = [f"tests/test_a.py::test_{number}" for number in range(many)]
    return made.functions(*ids).calls(*((one, "a.py::f") for one in ids))


def test_a_file_of_many_tests_does_not_crowd_out_the_others(tmp_path: Path) -> None:
    answer = asked(crowd().snapshot(tmp_path), "a.py::f", limit=20)
    assert files(answer.tests) == ["tests/test_a.py", "tests/test_other.py"]
    assert (len(answer.tests), answer.totals.tests, answer.truncated) == (20, 201, True)


def test_every_test_tells_why_it_stands_where_it_does_and_the_points_are_its_score(tmp_path: Path) -> None:
    graph = crowd(3).snapshot(tmp_path)
    for hit in asked(graph, "a.py::f", commits=[("a.py", "tests/test_a.py")] * 3).tests:
        assert hit.reasons
        assert abs(sum(reason.points for reason in hit.reasons) - hit.score) < 0.05
        assert all(reason.points > 0 and reason.text.endswith(".") for reason in hit.reasons)
        assert list(hit.reasons) == sorted(hit.reasons, key=lambda reason: -reason.points)


def test_of_tests_that_are_equally_near_the_one_that_changed_with_it_before_comes_first(
    tmp_path: Path,
) -> None:
    made = Handmade().functions("core.py::f", "tests/test_x.py::test_x", "tests/test_y.py::test_y")
    made.calls(("tests/test_x.py::test_x", "core.py::f"), ("tests/test_y.py::test_y", "core.py::f"))
    graph = made.snapshot(tmp_path)
    assert files(asked(graph, "core.py::f").tests) == ["tests/test_x.py", "tests/test_y.py"]
    tests = asked(graph, "core.py::f", commits=[("core.py", "tests/test_y.py", "README")] * 2).tests
    assert files(tests) == ["tests/test_y.py", "tests/test_x.py"]
    told = {reason.factor: reason.text for reason in tests[0].reasons}
    assert told["history"] == "Its file changed together with it in 2 commits."


def test_a_test_file_that_often_changed_with_it_is_told_though_no_reference_leads_there(
    tmp_path: Path,
) -> None:
    graph = Handmade().functions("core.py::f", "tests/test_far.py::test_far").snapshot(tmp_path)
    (hit,) = asked(graph, "core.py::f", commits=[("core.py", "tests/test_far.py")] * 3).tests
    assert (hit.symbol.path, hit.confidence, hit.why, factors(hit)) == (
        "tests/test_far.py",
        "by-name",
        (),
        {"history"},
    )
    assert asked(graph, "core.py::f", commits=[("core.py", "tests/test_far.py")]).tests == ()
    sure = asked(graph, "core.py::f", commits=[("core.py", "tests/test_far.py")] * 3, least=INFERRED)
    assert sure.tests == ()


def test_a_test_of_which_the_name_has_the_words_of_the_change_comes_first(tmp_path: Path) -> None:
    made = Handmade().functions("web.py::send_file", *(f"tests/test_{name}.py::test_it" for name in "abcdef"))
    made.functions("tests/test_z.py::test_large_file_is_sent_as_file_send")
    tests = [one for path in made.nodes if path.startswith("tests/") for one in [made.nodes[path][-1].id]]
    made.calls(*((test, "web.py::send_file") for test in tests))
    best = asked(made.snapshot(tmp_path), "web.py::send_file").tests[0]
    assert best.symbol.path == "tests/test_z.py"
    assert "words" in factors(best)


def test_a_change_that_few_tests_come_to_is_what_ranks_among_many_changed_things(tmp_path: Path) -> None:
    made = Handmade().functions(
        "m.py::everywhere", "m.py::seldom", *(f"tests/test_{n}.py::test" for n in range(9))
    )
    made.calls(*((f"tests/test_{number}.py::test", "m.py::everywhere") for number in range(8)))
    made.calls(("tests/test_8.py::test", "m.py::seldom"))
    tests = asked(made.snapshot(tmp_path), "m.py::everywhere", "m.py::seldom").tests
    assert tests[0].symbol.path == "tests/test_8.py"


def imported() -> Handmade:
    """A test that imports a package which imports what changes; only its name says what it is about."""
    made = Handmade().functions("lib/response.js::sendFile", "lib/express.js::create", "index.js::main")
    made.functions("test/res.sendFile.js::it works", "test/app.listen.js::it listens")
    made.functions(*(f"test/app.{name}.js::it works" for name in ("use", "all", "param", "head")))
    made.edge("index.js", Relation.IMPORTS, "lib/express.js").edge(
        "lib/express.js", Relation.IMPORTS, "lib/response.js"
    )
    for path in [path for path in made.nodes if path.startswith("test/")]:
        made.edge(path, Relation.IMPORTS, "index.js")
    return made


def test_imports_lead_to_a_test_over_other_files_if_its_name_fits_too(tmp_path: Path) -> None:
    graph = imported().snapshot(tmp_path)
    (hit,) = asked(graph, "lib/response.js::sendFile").tests
    assert (hit.symbol.path, hit.depth, hit.confidence) == ("test/res.sendFile.js", 3, "by-name")
    assert [(link.source, link.target, link.relation) for link in hit.why] == [
        ("test/res.sendFile.js", "index.js", "imports"),
        ("index.js", "lib/express.js", "imports"),
        ("lib/express.js", "lib/response.js", "imports"),
    ]
    assert asked(graph, "lib/response.js::sendFile", least=INFERRED).tests == ()


def test_a_test_file_that_is_called_almost_like_the_change_is_told_though_nothing_leads_there(
    tmp_path: Path,
) -> None:
    made = Handmade().methods("src/FromStringDictionaryMapper.cs::FromStringDictionaryMapper.Map")
    made.functions(
        "test/StringDictionaryMapperTests.cs::t", "test/StringTests.cs::t", "test/MapperTests.cs::t"
    )
    made.functions(*(f"test/{name}Tests.cs::t" for name in ("Other", "Third", "Fourth", "Fifth", "Sixth")))
    target = "src/FromStringDictionaryMapper.cs::FromStringDictionaryMapper.Map"
    (hit,) = asked(made.snapshot(tmp_path), target).tests
    assert (hit.symbol.path, hit.confidence) == ("test/StringDictionaryMapperTests.cs", "by-name")


def test_imports_that_go_in_a_circle_end(tmp_path: Path) -> None:
    made = imported().edge("lib/response.js", Relation.IMPORTS, "index.js")
    assert files(asked(made.snapshot(tmp_path), "lib/response.js::sendFile").tests) == [
        "test/res.sendFile.js"
    ]


def test_a_change_of_more_than_64_things_still_ranks_who_comes_to_most(tmp_path: Path) -> None:
    made = Handmade().functions(
        *(f"m.py::f{number}" for number in range(200)), "tests/test_x.py::t", "tests/test_y.py::t"
    )
    made.calls(("tests/test_x.py::t", "m.py::f0"))
    made.calls(*(("tests/test_y.py::t", f"m.py::f{number}") for number in range(0, 200, 2)))
    tests = asked(made.snapshot(tmp_path), "m.py").tests
    assert [hit.symbol.path for hit in tests] == ["tests/test_y.py", "tests/test_x.py"]
    assert tests[0].reaches == 64


def test_a_graph_without_tests_has_none_to_run(tmp_path: Path) -> None:
    answer = asked(Handmade().functions("a.py::f").snapshot(tmp_path), "a.py", commits=[("a.py", "b.py")] * 4)
    assert (answer.tests, answer.totals.tests) == ((), 0)


@pytest.mark.parametrize(
    ("name", "has"),
    [
        ("send_file", {"send", "file"}),
        ("sendFile", {"send", "file"}),
        ("HTTPServerError", {"http", "server", "error"}),
        ("TestCart.test_the_total", {"cart", "total"}),
        ("describe res.describe .json(object)", {"res", "json", "object"}),
        ("__init__", set[str]()),
        ("<lambda:3:7>", set[str]()),
    ],
)
def test_names_are_taken_apart_into_the_words_that_say_something(name: str, has: set[str]) -> None:
    assert words(name) == has


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), max_size=25),
    st.lists(
        st.lists(st.sampled_from(["m.py", *(f"tests/test_{n}.py" for n in range(6))]), max_size=4), max_size=8
    ),
    st.integers(1, 40),
)
def test_whatever_calls_what_the_answer_is_in_order_within_the_limit_and_has_no_test_twice(
    tmp_path_factory: pytest.TempPathFactory,
    calls: list[tuple[int, int]],
    commits: list[list[str]],
    limit: int,
) -> None:
    made = Handmade().functions(*(f"m.py::f{number}" for number in range(4)))
    made.functions(*(f"tests/test_{file}.py::test_{number}" for file in range(6) for number in range(4)))
    made.calls(*((f"tests/test_{file}.py::test_{to}", f"m.py::f{to}") for file, to in calls))
    answer = asked(made.snapshot(tmp_path_factory.mktemp("graph")), "m.py", commits=commits, limit=limit)
    ids = [hit.symbol.id for hit in answer.tests]
    assert len(ids) == len(set(ids)) <= limit
    assert answer.totals.tests >= len(ids)
    assert {f"tests/test_{file}.py" for file, _ in calls} <= set(files(answer.tests)) or len(ids) == limit
    first = [next(hit for hit in answer.tests if hit.symbol.path == path) for path in files(answer.tests)]
    assert [hit.score for hit in first] == sorted((hit.score for hit in first), reverse=True)
