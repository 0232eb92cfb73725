"""Search, targets, endpoints and lists."""

from pathlib import Path

import pytest

from belayer.codegraph import listing
from belayer.codegraph.arrays import Snapshot
from belayer.codegraph.endpoints import endpoints
from belayer.codegraph.graph import Confidence, Kind, Relation
from belayer.codegraph.search import find
from belayer.codegraph.targets import Targets
from belayer.vocabulary.errors import AmbiguousSymbol, UnknownSymbol
from tests.codegraph.handmade import BY_NAME, Handmade, node_of


def library() -> Handmade:
    return (
        Handmade()
        .classes("shop/cart.py::ShoppingCart", "shop/http.py::HTTPServer")
        .methods("shop/cart.py::ShoppingCart.add", "shop/cart.py::ShoppingCart.add_item")
        .functions("shop/money.py::add", "shop/money.py::round_up", "tests/test_money.py::test_add")
        .calls(
            ("shop/cart.py::ShoppingCart.add", "shop/money.py::add"),
            ("shop/cart.py::ShoppingCart.add", "shop/money.py::add"),
            ("tests/test_money.py::test_add", "shop/money.py::add"),
        )
        .edge("shop/cart.py", Relation.IMPORTS, "shop/money.py")
    )


@pytest.fixture
def graph(tmp_path: Path) -> Snapshot:
    return library().snapshot(tmp_path)


@pytest.mark.parametrize(
    ("query", "first", "fit"),
    [
        ("ShoppingCart", "shop/cart.py::ShoppingCart", "exact"),
        ("shoppingcart", "shop/cart.py::ShoppingCart", "exact"),
        ("Cart.add_item", "shop/cart.py::ShoppingCart.add_item", "substring"),
        ("ShoppingCart.add_item", "shop/cart.py::ShoppingCart.add_item", "exact"),
        ("round", "shop/money.py::round_up", "prefix"),
        ("shopCart", "shop/cart.py::ShoppingCart", "parts"),
        ("add item", "shop/cart.py::ShoppingCart.add_item", "parts"),
        ("HS", "shop/http.py::HTTPServer", "parts"),
        ("undup", "shop/money.py::round_up", "letters"),
    ],
)
def test_the_best_fit_comes_first(graph: Snapshot, query: str, first: str, fit: str) -> None:
    (node, told), *_ = find(graph, query, 5)[0]
    assert (graph.ids[node], told) == (first, fit)


def test_a_search_for_nothing_or_for_what_is_not_there_finds_nothing(graph: Snapshot) -> None:
    assert find(graph, "   ", 5) == ([], 0)
    assert find(graph, "zzqx", 5) == ([], 0)
    assert find(graph, "[^\\n*+(", 5) == ([], 0)


def test_a_limit_leaves_the_count_whole(graph: Snapshot) -> None:
    answer = listing.symbols(graph, "add", 1)
    assert (len(answer.symbols), answer.total, answer.truncated) == (1, 4, True)


@pytest.mark.parametrize(
    ("target", "node"),
    [
        ("shop/cart.py", "shop/cart.py"),
        ("./shop/cart.py", "shop/cart.py"),
        ("cart.py", "shop/cart.py"),
        ("shop.cart", "shop/cart.py"),
        ("shop/money.py::add", "shop/money.py::add"),
        ("shop.money.add", "shop/money.py::add"),
        ("money.add", "shop/money.py::add"),
        ("ShoppingCart.add", "shop/cart.py::ShoppingCart.add"),
        ("round_up", "shop/money.py::round_up"),
    ],
)
def test_a_target_may_be_a_path_an_id_a_dotted_name_or_the_end_of_one(
    graph: Snapshot, target: str, node: str
) -> None:
    assert graph.ids[Targets(graph).node(target)] == node


def test_an_ambiguous_target_says_what_could_be_meant(graph: Snapshot) -> None:
    with pytest.raises(AmbiguousSymbol) as refused:
        Targets(graph).nodes("add")
    assert refused.value.suggestions == ("shop/cart.py::ShoppingCart.add", "shop/money.py::add")


@pytest.mark.parametrize(
    "target", ["shop/carts.py", "shop.cart.ShopingCart", "shop/cart.py::ShoppinCart", "", "x" * 5_000]
)
def test_an_unknown_target_says_what_is_like_it(graph: Snapshot, target: str) -> None:
    with pytest.raises(UnknownSymbol) as refused:
        Targets(graph).nodes(target)
    if "ShoppinCart" in target:
        assert "shop/cart.py::ShoppingCart" in refused.value.suggestions


def test_a_path_with_colons_of_its_own_is_told_from_what_is_in_it(tmp_path: Path) -> None:
    made = Handmade().functions("a.py::f")
    for node_id, kind in (("a.py::b.py", Kind.MODULE), ("a.py::b.py::g", Kind.FUNCTION)):
        twin = made.nodes["a.py"][0]._replace(id=node_id, kind=kind, path="a.py::b.py", name=node_id)
        made.nodes.setdefault("a.py::b.py", []).append(twin)
        made.edges.setdefault("a.py::b.py", [])
    graph = made.snapshot(tmp_path)
    targets = Targets(graph)
    paths = [
        graph.paths[graph.file[targets.node(name)]] for name in ("a.py::f", "a.py::b.py", "a.py::b.py::g")
    ]
    assert paths == ["a.py", "a.py::b.py", "a.py::b.py"]


def test_overloads_are_one_target(tmp_path: Path) -> None:
    made = Handmade().methods("a.py::C.m")
    twin = made.nodes["a.py"][-1]
    made.nodes["a.py"].append(twin._replace(id="a.py::C.m#2"))
    graph = made.snapshot(tmp_path)
    assert [graph.ids[node] for node in Targets(graph).nodes("C.m")] == ["a.py::C.m", "a.py::C.m#2"]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("1", ["a.py"]),
        ("3", ["a.py::C"]),
        ("5", ["a.py::C.m"]),
        ("9", ["a.py::C"]),
        ("5-9", ["a.py::C", "a.py::C.m"]),
        ("1-999999", ["a.py", "a.py::C", "a.py::C.m", "a.py::f"]),
        ("25-5", ["a.py"]),
        ("999999", ["a.py"]),
        ("0", ["a.py"]),
    ],
)
def test_lines_of_a_file_are_the_innermost_things_that_stand_there(
    tmp_path: Path, lines: str, found: list[str]
) -> None:
    made = Handmade().classes("a.py::C").methods("a.py::C.m").functions("a.py::f", "sub/a.py::f")
    places = {"a.py": (1, 30), "a.py::C": (3, 12), "a.py::C.m": (5, 8), "a.py::f": (14, 20)}
    made.nodes["a.py"] = [
        node._replace(line=places[node.id][0], end_line=places[node.id][1]) for node in made.nodes["a.py"]
    ]
    graph = made.snapshot(tmp_path)
    assert [graph.ids[node] for node in Targets(graph).nodes(f"a.py:{lines}")] == found


@pytest.mark.parametrize("target", ["b.py:3", "a.py:x", "a.py:", ":3", "a.py" + ":1" * 400, "f:3"])
def test_lines_of_what_is_no_file_are_unknown(tmp_path: Path, target: str) -> None:
    graph = Handmade().functions("a.py::g").snapshot(tmp_path)
    with pytest.raises(UnknownSymbol):
        Targets(graph).nodes(target)


ROUTES = (
    "GET /users",
    "POST /users",
    "GET /users/{id}",
    "GET /users/{id}/posts/{post}",
    "ANY /files/{path*}",
    "GET /reports/{name}.json",
    "GET /",
)


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("/users/42", ["GET /users/{id}"]),
        ("/users/{user_id}", ["GET /users/{id}"]),
        ("/users/42/posts/7/", ["GET /users/{id}/posts/{post}"]),
        ("/files/a/b/c.txt", ["ANY /files/{path*}"]),
        ("/reports/may.json", ["GET /reports/{name}.json"]),
        ("/reports/may.xml", []),
        ("GET /users", ["GET /users", "GET /users/{id}", "GET /users/{id}/posts/{post}"]),
        ("post /users", ["POST /users"]),
        ("/users/*", ["GET /users/{id}"]),
        ("/users/**", ["GET /users", "GET /users/{id}", "GET /users/{id}/posts/{post}", "POST /users"]),
        ("posts", ["GET /users/{id}/posts/{post}"]),
        ("GET", [route for route in ROUTES if not route.startswith("POST")]),
        (None, list(ROUTES)),
        ("/nothing", []),
        ("*" * 400 + "x", []),
    ],
)
def test_endpoints_are_found_by_path_pattern_or_part(
    tmp_path: Path, pattern: str | None, wanted: list[str]
) -> None:
    made = Handmade()
    for route in ROUTES:
        made.add(Kind.ENDPOINT, f"api.py::{route}")
    answer = endpoints(made.snapshot(tmp_path), pattern, 100)
    assert sorted(f"{found.method} {found.route}" for found in answer.endpoints) == sorted(wanted)


def test_a_route_that_serves_the_path_comes_before_one_that_has_it_in_it(tmp_path: Path) -> None:
    made = Handmade().add(Kind.ENDPOINT, "a.py::GET /api/users", "a.py::GET /users")
    answer = endpoints(made.snapshot(tmp_path), "/users", 1)
    assert (answer.endpoints[0].route, answer.total, answer.truncated) == ("/users", 2, True)


def test_modules_are_paged_by_path_and_filtered_by_tag_and_text(graph: Snapshot) -> None:
    first = listing.modules(graph, None, None, 3, None)
    assert [module.path for module in first.modules] == ["shop/cart.py", "shop/http.py", "shop/money.py"]
    assert (first.total, first.after, first.tags) == (4, "shop/money.py", {"test": 1})
    assert [module.path for module in listing.modules(graph, None, None, 3, first.after).modules] == [
        "tests/test_money.py"
    ]
    assert [module.path for module in listing.modules(graph, "test", None, 9, None).modules] == [
        "tests/test_money.py"
    ]
    assert [module.path for module in listing.modules(graph, None, "SHOP.MON", 9, None).modules] == [
        "shop/money.py"
    ]
    assert (first.modules[0].dependencies, first.modules[2].dependents, first.modules[0].symbols) == (1, 2, 3)


def test_dependencies_are_one_reference_away_in_both_directions(graph: Snapshot) -> None:
    answer = listing.dependencies(graph, node_of(graph, "shop/money.py"), BY_NAME, 10)
    assert [(module.path, module.references, module.relations) for module in answer.imported_by] == [
        ("shop/cart.py", 3, {"calls": 2, "imports": 1}),
        ("tests/test_money.py", 1, {"calls": 1}),
    ]
    assert [(use.inner.name, use.outer.name, use.link.count) for use in answer.callers] == [
        ("shop.money.add", "shop.cart.ShoppingCart.add", 2),
        ("shop.money.add", "tests.test_money.test_add", 1),
    ]
    assert (answer.imports, answer.callees) == ((), ())


def test_neighbours_are_all_around_and_cut_at_the_limit(graph: Snapshot) -> None:
    center = node_of(graph, "shop/money.py::add")
    answer = listing.neighbours(graph, center, 1, BY_NAME, 50)
    assert {node.id for node in answer.nodes} == {
        "shop/money.py", "shop/money.py::add", "shop/cart.py::ShoppingCart.add", "tests/test_money.py::test_add",
    }  # fmt: skip
    assert {(link.relation, link.count) for link in answer.links} == {
        ("contains", 1),
        ("calls", 2),
        ("calls", 1),
    }
    assert listing.neighbours(graph, center, 1, BY_NAME, 2).truncated


def test_the_whole_graph_is_drawn_by_modules_or_symbols_and_says_when_it_is_cut(graph: Snapshot) -> None:
    whole = listing.whole(graph, "modules", BY_NAME, 10)
    assert (len(whole.nodes), whole.total_nodes, whole.truncated) == (4, 4, False)
    assert [(link.source, link.target, link.relation, link.count) for link in whole.links] == [
        ("shop/cart.py", "shop/money.py", "calls", 3),
        ("tests/test_money.py", "shop/money.py", "calls", 1),
    ]
    cut = listing.whole(graph, "symbols", Confidence.RESOLVED, 2)
    assert (len(cut.nodes), cut.total_nodes, cut.truncated) == (2, 7, True)


def test_an_empty_graph_answers_everything(tmp_path: Path) -> None:
    graph = Handmade().snapshot(tmp_path)
    assert listing.modules(graph, None, None, 5, None).total == 0
    assert listing.whole(graph, "modules", BY_NAME, 5).nodes == ()
    assert listing.whole(graph, "symbols", BY_NAME, 5).nodes == ()
    assert endpoints(graph, "/x", 5).total == 0
    assert find(graph, "x", 5) == ([], 0)
