"""A repository's graph from the command line."""

from pathlib import Path

import pytest

from belayer.cli.exits import Exit
from tests.cli.stage import Cli
from tests.support.git_server import repository
from tests.support.shop import SHOP


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    repository(tmp_path / "shop", SHOP)
    return tmp_path / "shop"


def test_a_folder_is_built_and_says_how_large_it_is(cli: Cli, shop: Path) -> None:
    said = cli("graph", str(shop), "build")
    assert said.code == Exit.DONE
    assert f"{len(SHOP)} files (python {len(SHOP)})" in said.out
    again = cli("graph", str(shop), "build", "--json").json()
    assert again["graph"]["parsed"] == 0


def test_a_question_builds_what_is_missing_and_sees_an_edit(cli: Cli, shop: Path) -> None:
    first = cli("graph", str(shop), "impact", "shop.money.rounded", "--json").json()
    assert first["tests"][0]["symbol"]["name"] == "tests.test_cart.test_a_cart_has_a_total"
    (shop / "shop/late.py").write_text(
        "from shop.money import rounded\n\n\ndef late():\n    return rounded(1)\n"
    )
    second = cli("graph", str(shop), "impact", "shop.money.rounded", "--json").json()
    assert "shop/late.py" in [one["path"] for one in second["modules"]]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["modules"], "shop/cart.py"),
        (["modules", "--tag", "test"], "tests/test_cart.py"),
        (["endpoints", "/carts/7"], "GET /carts/{cart_id}"),
        (["dependencies", "shop/cart.py"], "shop/money.py"),
        (["symbols", "total"], "shop.cart.Cart.total"),
        (["risk", "shop.money.rounded"], "of 100"),
        (["impact", "shop.money.rounded"], "tests to run".upper()),
        (["impact", "shop.money.rounded", "--format", "dot"], "digraph"),
        (["draw"], "flowchart"),
    ],
)
def test_every_question_has_an_answer_for_a_person(
    cli: Cli, shop: Path, words: list[str], wanted: str
) -> None:
    said = cli("graph", str(shop), *words)
    assert said.code == Exit.DONE, said.err
    assert wanted in said.out


def test_what_is_not_there_is_told_with_what_is(cli: Cli, shop: Path) -> None:
    said = cli("graph", str(shop), "impact", "shop.money.round")
    assert said.code == Exit.REFUSED
    assert "rounded" in said.err


def test_a_question_needs_something_to_ask_about(cli: Cli, shop: Path) -> None:
    assert cli("graph", str(shop), "impact").code == Exit.USAGE


def test_a_repository_elsewhere_is_fetched_in_a_session_and_then_asked(cli: Cli, shop: Path) -> None:
    address = f"{shop}/.git"  # a folder, so this is asked of where it is
    assert cli("graph", address, "build").code == Exit.DONE
    unknown = cli("graph", "https://forge.example/a/b", "modules")
    assert unknown.code == Exit.REFUSED
    assert "Build it first" in unknown.err
    refused = cli("graph", "ext::sh -c id/x", "build")
    assert refused.code == Exit.REFUSED


def test_names_from_a_repository_cannot_act_on_the_terminal(cli: Cli, shop: Path) -> None:
    (shop / "shop/\x1b]0;x\x07.py").write_text("def f():\n    pass\n")
    said = cli("graph", str(shop), "modules")
    assert "\x1b" not in said.out
