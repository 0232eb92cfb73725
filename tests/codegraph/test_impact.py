"""What a change reaches: modules, symbols, endpoints, tests and the risk."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from belayer.codegraph.answers import Direction, Impact
from belayer.codegraph.arrays import Snapshot
from belayer.codegraph.churn import Changes
from belayer.codegraph.graph import Confidence, Kind, Relation
from belayer.codegraph.impact import Asked, impact
from tests.codegraph.handmade import BY_NAME, INFERRED, Handmade, node_of


def asked(
    graph: Snapshot,
    *targets: str,
    depth: int = 3,
    direction: Direction = "dependents",
    least: Confidence = BY_NAME,
    limit: int = 100,
    churn: Mapping[str, int] | None = None,
) -> Impact:
    nodes = [node_of(graph, target) for target in targets]
    past = None if churn is None else Changes(churn, ())
    return impact(graph, Asked(nodes, depth, direction, least, limit), past)


def shop() -> Handmade:
    """An endpoint over a service over a cart, with a test for each, and a module that only imports the cart."""
    return (
        Handmade()
        .classes("shop/cart.py::Cart")
        .methods("shop/cart.py::Cart.add", "shop/cart.py::Cart.total")
        .functions("shop/service.py::put", "shop/api.py::put_item", "shop/report.py::print_all")
        .add(Kind.ENDPOINT, "shop/api.py::POST /items", tags=("fastapi",))
        .functions(
            "tests/test_cart.py::test_add", "tests/test_api.py::test_put", "tests/test_other.py::test_nothing"
        )
        .calls(
            ("shop/service.py::put", "shop/cart.py::Cart.add"),
            ("shop/api.py::put_item", "shop/service.py::put"),
            ("tests/test_cart.py::test_add", "shop/cart.py::Cart.add"),
            ("tests/test_cart.py::test_add", "shop/cart.py::Cart.total"),
            ("tests/test_api.py::test_put", "shop/api.py::put_item"),
        )
        .edge("shop/api.py::POST /items", Relation.SERVES, "shop/api.py::put_item")
        .edge("shop/report.py", Relation.IMPORTS, "shop/cart.py")
        .edge("shop/service.py", Relation.IMPORTS, "shop/cart.py")
    )


def test_symbols_modules_and_endpoints_are_told_with_their_depth_nearest_first(tmp_path: Path) -> None:
    answer = asked(shop().snapshot(tmp_path), "shop/cart.py::Cart.add")
    assert [(hit.symbol.id, hit.depth) for hit in answer.symbols] == [
        ("shop/service.py::put", 1),
        ("shop/api.py::put_item", 2),
    ]
    assert [(hit.path, hit.depth, hit.is_test) for hit in answer.modules] == [
        ("shop/service.py", 1, False),
        ("tests/test_cart.py", 1, True),
        ("shop/api.py", 2, False),
        ("tests/test_api.py", 3, True),
    ]
    (endpoint,) = answer.endpoints
    assert (endpoint.endpoint.method, endpoint.endpoint.route, endpoint.depth) == ("POST", "/items", 3)
    assert endpoint.endpoint.handler is not None
    assert endpoint.endpoint.framework == "fastapi"


def test_the_path_that_explains_a_hit_leads_from_it_to_the_target(tmp_path: Path) -> None:
    answer = asked(shop().snapshot(tmp_path), "shop/cart.py::Cart.add")
    assert [(link.source, link.target, link.relation) for link in answer.endpoints[0].why] == [
        ("shop/api.py::POST /items", "shop/api.py::put_item", "serves"),
        ("shop/api.py::put_item", "shop/service.py::put", "calls"),
        ("shop/service.py::put", "shop/cart.py::Cart.add", "calls"),
    ]
    assert answer.symbols[0].why[0].path == "shop/service.py"


def test_who_only_imports_a_module_is_reached_by_a_change_of_the_whole_module_and_inferred(
    tmp_path: Path,
) -> None:
    graph = shop().snapshot(tmp_path)
    assert "shop/report.py" not in {hit.path for hit in asked(graph, "shop/cart.py::Cart").modules}
    hit = next(hit for hit in asked(graph, "shop/cart.py").modules if hit.path == "shop/report.py")
    assert (hit.depth, hit.confidence, hit.symbols, hit.why[0].relation) == (1, "inferred", 0, "imports")
    sure = asked(graph, "shop/cart.py", least=Confidence.RESOLVED)
    assert "shop/report.py" not in {hit.path for hit in sure.modules}


def test_dependencies_are_what_the_target_needs(tmp_path: Path) -> None:
    answer = asked(shop().snapshot(tmp_path), "shop/api.py::put_item", direction="dependencies")
    assert [(hit.symbol.id, hit.depth) for hit in answer.symbols] == [
        ("shop/service.py::put", 1),
        ("shop/cart.py::Cart.add", 2),
    ]
    assert [link.source for link in answer.symbols[1].why] == [
        "shop/service.py::put",
        "shop/api.py::put_item",
    ]


def test_tests_are_found_beyond_the_depth_and_the_near_and_namesakes_come_first(tmp_path: Path) -> None:
    answer = asked(shop().snapshot(tmp_path), "shop/cart.py::Cart.add", depth=1)
    assert [(hit.symbol.name, hit.depth, hit.is_named_after) for hit in answer.tests] == [
        ("tests.test_cart.test_add", 1, True),
        ("tests.test_api.test_put", 3, False),
    ]


def test_a_test_that_comes_to_more_of_what_changed_is_run_first(tmp_path: Path) -> None:
    made = (
        shop()
        .functions("tests/test_a.py::test_one")
        .calls(("tests/test_a.py::test_one", "shop/cart.py::Cart.add"))
    )
    made.functions("tests/test_b.py::test_both").calls(
        ("tests/test_b.py::test_both", "shop/cart.py::Cart.add"),
        ("tests/test_b.py::test_both", "shop/cart.py::Cart.total"),
    )
    tests = asked(made.snapshot(tmp_path), "shop/cart.py::Cart").tests
    assert [(hit.symbol.name, hit.reaches) for hit in tests][:3] == [
        ("tests.test_cart.test_add", 2),
        ("tests.test_b.test_both", 2),
        ("tests.test_a.test_one", 1),
    ]


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("shop/cart.py", "tests/test_cart.py"),
        ("shop/cart.py", "shop/cart_test.py"),
        ("src/Cart.java", "src/test/CartTest.java"),
        ("src/cart.ts", "src/cart.spec.ts"),
        ("src/shoppingCart.ts", "test/shopping-cart.test.ts"),
        ("src/Cart.cs", "test/CartTests.cs"),
    ],
)
def test_a_test_file_named_after_the_target_is_told_even_if_nothing_leads_there(
    tmp_path: Path, source: str, test: str
) -> None:
    made = Handmade().functions(
        f"{source}::f", f"{test}::t", "tests/test_carton.py::t", "tests/test_other.py::t"
    )
    (hit,) = asked(made.snapshot(tmp_path), source).tests
    assert (hit.symbol.path, hit.confidence, hit.is_named_after, hit.why) == (test, "by-name", True, ())


def test_a_changed_test_is_to_be_run_itself(tmp_path: Path) -> None:
    graph = shop().snapshot(tmp_path)
    assert asked(graph, "tests/test_cart.py::test_add").tests[0].symbol.name == "tests.test_cart.test_add"


def test_least_confidence_holds_for_symbols_tests_and_modules(tmp_path: Path) -> None:
    made = Handmade().functions("a.py::f", "b.py::g", "test_x.py::test_weak")
    made.calls(("b.py::g", "a.py::f"), ("test_x.py::test_weak", "a.py::f"), confidence=INFERRED)
    graph = made.snapshot(tmp_path)
    assert asked(graph, "a.py::f").totals.symbols == 1
    nothing = asked(graph, "a.py::f", least=Confidence.RESOLVED)
    assert (nothing.symbols, nothing.tests, nothing.modules) == ((), (), ())


def test_a_limit_cuts_the_lists_and_says_so_but_totals_count_all(tmp_path: Path) -> None:
    made = Handmade().functions("a.py::f", *(f"m{number}.py::g" for number in range(9)))
    made.calls(*((f"m{number}.py::g", "a.py::f") for number in range(9)))
    answer = asked(made.snapshot(tmp_path), "a.py::f", limit=4)
    assert (len(answer.symbols), len(answer.modules), answer.totals.symbols, answer.truncated) == (
        4,
        4,
        9,
        True,
    )


def test_the_risk_grows_with_every_reason_and_each_tells_its_number(tmp_path: Path) -> None:
    graph = shop().snapshot(tmp_path)
    quiet = asked(graph, "shop/report.py::print_all", churn={}).risk
    busy = asked(graph, "shop/cart.py::Cart.add", churn={"shop/cart.py": 40}).risk
    values = {reason.factor: reason.value for reason in busy.reasons}
    assert values == {"fan_in": 1, "fan_out": 0, "spread": 2, "endpoints": 1, "untested": 0.0, "churn": 40}
    assert quiet.score < busy.score
    assert abs(busy.score - sum(reason.points for reason in busy.reasons)) <= 0.5
    assert {reason.factor: reason.value for reason in quiet.reasons}["untested"] == 1.0


def test_endpoints_that_tests_make_for_themselves_add_no_risk(tmp_path: Path) -> None:
    made = shop().functions("tests/test_app.py::view").add(Kind.ENDPOINT, "tests/test_app.py::GET /")
    made.calls(("tests/test_app.py::view", "shop/cart.py::Cart.add"))
    made.edge("tests/test_app.py::GET /", Relation.SERVES, "tests/test_app.py::view")
    risk = asked(made.snapshot(tmp_path), "shop/cart.py::Cart.add").risk
    assert {reason.factor: reason.value for reason in risk.reasons}["endpoints"] == 1


def test_without_history_churn_is_unknown_and_adds_nothing(tmp_path: Path) -> None:
    risk = asked(shop().snapshot(tmp_path), "shop/cart.py::Cart.add").risk
    churn = next(reason for reason in risk.reasons if reason.factor == "churn")
    assert (churn.value, churn.points) == (None, 0.0)


def test_a_busy_untested_endpoint_behind_everything_is_a_high_risk(tmp_path: Path) -> None:
    made = Handmade().functions("core.py::f", *(f"m{number}.py::g" for number in range(40)))
    made.calls(*((f"m{number}.py::g", "core.py::f") for number in range(40)))
    for number in range(12):
        made.add(Kind.ENDPOINT, f"m{number}.py::GET /{number}")
        made.edge(f"m{number}.py::GET /{number}", Relation.SERVES, f"m{number}.py::g")
    assert asked(made.snapshot(tmp_path), "core.py::f", churn={"core.py": 60}).risk.level == "high"
