"""Repositories and their graphs over REST."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.visiting import problem_of, visiting
from tests.support.engines import home_engine
from tests.support.git_server import repository
from tests.support.shop import SHOP


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[httpx.AsyncClient]:
    repository(tmp_path / "origin", SHOP)
    async with home_engine(tmp_path / "home") as engine, visiting(engine) as visitor:
        yield visitor


async def _made(client: httpx.AsyncClient, tmp_path: Path) -> dict[str, Any]:
    body = {"repo_url": str(tmp_path / "origin")}
    response = await client.post("/clone-and-generate", params={"wait": True}, json=body)
    assert response.status_code == 200, response.text
    return response.json()


async def test_one_who_does_not_wait_gets_a_session_to_follow(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    response = await client.post("/clone-and-generate", json={"repo_url": str(tmp_path / "origin")})
    assert response.status_code == 202
    made = await _made(client, tmp_path)
    assert response.json()["repo_id"] == made["repo_id"]
    assert (await client.get(f"/api/execution/sessions/{response.json()['session_id']}")).status_code == 200


async def test_one_who_waits_gets_the_graph(client: httpx.AsyncClient, tmp_path: Path) -> None:
    made = await _made(client, tmp_path)
    assert (made["status"], made["graph"]["files"]) == ("completed", len(SHOP))
    listed = (await client.get("/api/repos")).json()["repos"]
    assert [(one["id"], one["name"]) for one in listed] == [(made["repo_id"], "origin")]


@pytest.mark.parametrize(
    "repo_url", ["ext::sh -c id", "--upload-pack=id", "file:///etc", "https://a:b@host/x", ""]
)
async def test_an_address_that_is_refused_is_told_and_not_repeated(
    client: httpx.AsyncClient, repo_url: str
) -> None:
    response = await client.post("/clone-and-generate", json={"repo_url": repo_url})
    assert response.status_code == 422
    assert "a:b" not in problem_of(response)["detail"]


async def test_one_who_waits_for_what_cannot_be_fetched_is_told_why(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    (tmp_path / "plain").mkdir()
    body = {"repo_url": str(tmp_path / "plain")}
    problem = problem_of(await client.post("/clone-and-generate", params={"wait": True}, json=body))
    assert "git" in problem["detail"]
    assert problem["hint"]


async def test_the_questions_are_answered(client: httpx.AsyncClient, tmp_path: Path) -> None:
    at = f"/api/repos/{(await _made(client, tmp_path))['repo_id']}"
    modules = (await client.get(f"{at}/modules", params={"tag": "test"})).json()
    assert [one["path"] for one in modules["modules"]] == ["tests/test_cart.py"]
    impact = (await client.get(f"{at}/impact", params={"module": "shop/money.py", "depth": 4})).json()
    assert {one["path"] for one in impact["modules"]} >= {"shop/cart.py", "shop/api.py"}
    assert impact["tests"][0]["symbol"]["name"] == "tests.test_cart.test_a_cart_has_a_total"
    assert impact["tests"][0]["why"]
    endpoints = (await client.get(f"{at}/endpoints", params={"path": "/carts/42"})).json()
    assert [one["handler"]["name"] for one in endpoints["endpoints"]] == ["shop.api.read_cart"]
    needs = (await client.get(f"{at}/dependencies", params={"module": "shop/cart.py"})).json()
    assert [one["path"] for one in needs["imports"]] == ["shop/money.py"]
    found = (await client.get(f"{at}/symbols", params={"q": "total"})).json()
    assert found["symbols"][0]["symbol"]["name"] == "shop.cart.Cart.total"
    risk = (await client.get(f"{at}/risk", params={"module": "shop.cart.Cart.total"})).json()
    assert risk["level"] in ("low", "medium", "high")
    around = (await client.get(f"{at}/neighbours", params={"node": "shop.cart.Cart.total"})).json()
    assert around["center"]["name"] == "shop.cart.Cart.total"
    graph = (await client.get(f"{at}/graph")).json()
    assert graph["total_nodes"] == len(SHOP)


async def test_an_answer_can_be_drawn(client: httpx.AsyncClient, tmp_path: Path) -> None:
    at = f"/api/repos/{(await _made(client, tmp_path))['repo_id'][:8]}"
    asked = {"module": "shop/money.py"}
    dot = await client.get(f"{at}/impact", params={**asked, "format": "dot"})
    assert dot.text.startswith("digraph")
    mermaid = await client.get(f"{at}/impact", params={**asked, "format": "mermaid"})
    assert mermaid.text.startswith("flowchart")
    picture = await client.get(f"{at}/impact", params={**asked, "format": "picture"})
    assert {"nodes", "edges"} <= picture.json().keys()


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ("/api/repos/0000000000000000", 404),
        ("/api/repos/zz/graph", 404),
        ("/api/repos/{id}/impact?module=nothing.like.this", 404),
        ("/api/repos/{id}/impact", 422),
        ("/api/repos/{id}/impact?module=shop/money.py&depth=0", 422),
        ("/api/repos/{id}/graph?least=sure", 422),
        ("/api/repos/{id}/dependencies?module=", 422),
    ],
)
async def test_a_question_that_makes_no_sense_is_refused(
    client: httpx.AsyncClient, tmp_path: Path, asked: str, status: int
) -> None:
    made = await _made(client, tmp_path)
    response = await client.get(asked.format(id=made["repo_id"]))
    assert response.status_code == status
    problem_of(response)
