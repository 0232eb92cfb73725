"""Fetch a repository and build its graph, as a session."""

from pathlib import Path
from typing import Any

import pytest

from belayer.engine import Engine
from belayer.vocabulary.commands import Approve, Start
from belayer.vocabulary.errors import SessionFailed, UnfitRepository
from belayer.vocabulary.events.event import Status
from belayer.vocabulary.events.people import ApprovalRequested
from belayer.vocabulary.events.steps import StepChanged
from belayer.vocabulary.ids import SessionId
from belayer.vocabulary.rules import Rule, Verdict
from tests.support.engines import home_engine
from tests.support.git_server import commit, repository
from tests.support.shop import SHOP


async def _start(engine: Engine, origin: Path | str, *rules: Rule) -> SessionId:
    command = Start(workflow="graph", input={"repo_url": str(origin)}, policy=rules or None)
    return await engine.begin(command)


async def _made(engine: Engine, origin: Path) -> dict[str, Any]:
    made: Any = await engine.result(await _start(engine, origin))
    return made


async def test_a_repository_becomes_a_graph_that_can_be_asked(tmp_path: Path) -> None:
    at = repository(tmp_path / "origin", SHOP)
    async with home_engine(tmp_path / "home") as engine:
        made = await _made(engine, tmp_path / "origin")
        assert (made["commit"], made["cached"], made["graph"]["files"]) == (at, False, len(SHOP))
        graph = await engine.repositories.graph(engine.repositories.find(made["repo_id"]))
        reached = await graph.impact(["shop.money.rounded"])
        assert [one.symbol.name for one in reached.tests] == ["tests.test_cart.test_a_cart_has_a_total"]
        assert [one.endpoint.route for one in reached.endpoints] == ["/carts/{cart_id}"]


async def test_the_same_commit_is_not_fetched_again_and_a_new_one_is(tmp_path: Path) -> None:
    repository(tmp_path / "origin", SHOP)
    async with home_engine(tmp_path / "home") as engine:
        await _made(engine, tmp_path / "origin")
        again = await _made(engine, tmp_path / "origin")
        assert (again["cached"], again["graph"]["parsed"]) == (True, 0)
        at = commit(tmp_path / "origin", {"shop/money.py": "def rounded(amount):\n    return amount\n"})
        moved = await _made(engine, tmp_path / "origin")
        assert (moved["cached"], moved["commit"], moved["graph"]["parsed"]) == (False, at, 1)


async def test_an_address_that_is_refused_starts_no_session(tmp_path: Path) -> None:
    async with home_engine(tmp_path / "home") as engine:
        with pytest.raises(UnfitRepository):
            await _start(engine, "ext::sh -c true")
        assert await engine.sessions() == []


async def test_what_is_no_repository_fails_the_session_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    async with home_engine(tmp_path / "home") as engine:
        with pytest.raises(SessionFailed) as failed:
            await engine.result(await _start(engine, tmp_path / "plain"))
        assert failed.value.cause.kind == "FetchFailed"
        assert failed.value.cause.hint


async def test_a_rule_may_forbid_to_look_at_a_host(tmp_path: Path) -> None:
    async with home_engine(tmp_path / "home") as engine:
        rule = Rule(verdict=Verdict.DENY, host="*.example")
        session_id = await _start(engine, "https://forge.example/a/b", rule)
        with pytest.raises(SessionFailed) as failed:
            await engine.result(session_id)
        assert failed.value.cause.kind == "PolicyDenied"


async def test_a_rule_may_ask_before_a_folder_is_read(tmp_path: Path) -> None:
    repository(tmp_path / "origin", SHOP)
    async with home_engine(tmp_path / "home") as engine:
        rule = Rule(verdict=Verdict.ASK, tool="repository.fetch")
        session_id = await _start(engine, tmp_path / "origin", rule)
        state = await engine.settled(session_id)
        assert state.status is Status.WAITING
        (request,) = state.pending.values()
        assert isinstance(request, ApprovalRequested)
        await engine.tell(session_id, Approve(request_id=request.request_id, digest=request.digest))
        await engine.result(session_id)
        events = [record.event() for record in await engine.records(session_id)]
        steps = [one for one in events if isinstance(one, StepChanged)]
        assert [one.name for one in steps if one.status == "completed"] == [
            "repository.look",
            "repository.fetch",
            "repository.build",
        ]


async def test_a_folder_is_read_where_it_is_with_what_is_not_committed(tmp_path: Path) -> None:
    repository(tmp_path / "work", SHOP)
    (tmp_path / "work/shop/new.py").write_text(
        "from shop.money import rounded\n\n\ndef use():\n    rounded(1)\n"
    )
    async with home_engine(tmp_path / "home") as engine:
        ours = engine.repositories.in_folder(tmp_path / "work")
        built = await engine.repositories.build(ours, None, lambda _progress: None)
        graph = await engine.repositories.graph(built)
        reached = await graph.impact(["shop.money.rounded"])
        assert "shop/new.py" in [one.path for one in reached.modules]
        assert engine.repositories.known() == [built]
