"""A redirect is a call too: what the rules say of a host holds for it however it is reached."""

from pathlib import Path
from typing import Any

import pytest

from belayer import open_engine
from belayer.settings import read_settings
from belayer.vocabulary.errors import SessionFailed
from belayer.vocabulary.rules import Rule, Verdict
from tests.support.site import Site, answer, serving

DENIED = Rule(verdict=Verdict.DENY, host="localhost:*")
ASKED = Rule(verdict=Verdict.ASK, host="localhost:*")


async def fetched(tmp_path: Path, url: str, *rules: Rule) -> Any:
    settings = read_settings(home=tmp_path, private_hosts="127.0.0.1,localhost")
    plan: Any = {"steps": [{"id": "get", "tool": "http_fetch", "params": {"url": url}}]}
    async with open_engine(settings=settings) as engine:
        session = await engine.carry_out(plan, mode="autonomous", policy=rules)
        return await session.result()


def pages(there: list[Site]) -> dict[str, Any]:
    async def lead_on(writer: Any) -> None:
        writer.write(answer(status=302, location=there[0].url("/there", "localhost")))

    return {"/here": lead_on, "/there": answer("found", content_type="text/plain")}


@pytest.mark.parametrize("rule", [DENIED, ASKED])
async def test_a_redirect_to_a_host_that_is_not_allowed_is_not_followed(tmp_path: Path, rule: Rule) -> None:
    there: list[Site] = []
    async with serving(pages(there)) as here:
        there.append(here)
        with pytest.raises(SessionFailed, match="redirects to localhost, which the rules do not allow"):
            await fetched(tmp_path, here.url("/here"), rule)
        assert here.paths() == ["/here"]


async def test_a_redirect_to_a_host_that_is_allowed_is_followed(tmp_path: Path) -> None:
    there: list[Site] = []
    async with serving(pages(there)) as here:
        there.append(here)
        ended = await fetched(tmp_path, here.url("/here"))
        assert ended["outputs"]["get"]["text"] == "found"
