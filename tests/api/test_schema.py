"""The schema tells the truth: requests made up from it get documented answers, and never an error of the server."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
import schemathesis
from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from belayer.engine import Engine, Session
from tests.api.visiting import app_on
from tests.api.work import asking, echoing, writes
from tests.support.engines import home_engine, memory_engine
from tests.support.git_server import repository
from tests.support.servers import Address, serving
from tests.support.shop import SHOP

PLACES = ("waiting", "approval", "paused", "interrupted", "cancelled", "completed", "failed", "nobody")
"""Where the sessions of the server are; nobody is at the last."""
FAILS: dict[str, Any] = {"steps": [{"id": "a", "tool": "files.read", "params": {"path": "missing"}}]}


def pointed(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema with names of things that are there, so that more than 404 comes of it."""
    for path in schema["paths"].values():
        for operation in path.values():
            for parameter in operation.get("parameters", ()):
                if parameter["name"] == "session_id":
                    parameter["schema"] = {"enum": list(PLACES)}
                if parameter["name"] == "repo_id":
                    parameter["schema"] = {"enum": ["shop", "nobody"]}
    schema["components"]["schemas"]["StartBody"]["properties"]["workflow"] = {"enum": ["asking", "echoing"]}
    schema["components"]["schemas"]["CloneBody"]["properties"]["repo_url"] = {"enum": ["/nowhere", "ext::id"]}
    return schema


async def document() -> dict[str, Any]:
    async with memory_engine() as engine:
        return app_on(engine).openapi()


DOCUMENT = asyncio.run(document())
described = schemathesis.openapi.from_dict(pointed(deepcopy(DOCUMENT)))
EVERYTHING = cast("list[HealthCheck]", list(HealthCheck))


@dataclass(frozen=True, slots=True)
class Busy:
    """A server, and the ids of the sessions at each place."""

    address: Address
    ids: dict[str, str]

    def lead(self, case: schemathesis.Case) -> None:
        """Have the request go to the session at the place it names."""
        place = (case.path_parameters or {}).get("session_id")
        if isinstance(place, str) and place in self.ids:
            case.path_parameters["session_id"] = self.ids[place]
        if (case.path_parameters or {}).get("repo_id") == "shop":
            case.path_parameters["repo_id"] = self.ids["shop"]


@asynccontextmanager
async def busy_server(home: Path) -> AsyncGenerator[Busy]:
    async with home_engine(home, asking, echoing) as engine, serving(engine) as address:
        ids: dict[str, str] = {place: (await brought(engine, place)).id for place in PLACES[:-1]}
        repository(home / "shop", SHOP)
        shop = engine.repositories.in_folder(home / "shop")
        await engine.repositories.build(shop, None, lambda _progress: None)
        yield Busy(address, {**ids, "shop": shop.id})


async def brought(engine: Engine, place: str) -> Session:
    """A session that is there now."""
    match place:
        case "completed" | "approval":
            session = await engine.carry_out(writes("a", "b"))
        case "failed":
            session = await engine.carry_out(FAILS, mode="autonomous")
        case _:
            session = await engine.start(asking)
    await session.settled()
    stops = {"paused": session.pause, "interrupted": session.interrupt, "cancelled": session.cancel}
    if place in stops:
        await stops[place]()
    return session


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Generator[Busy]:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(busy_server(tmp_path_factory.mktemp("home"))) as busy,
    ):
        yield busy


def test_the_schema_is_openapi_3_1() -> None:
    assert DOCUMENT["openapi"].startswith("3.1.")
    schemathesis.openapi.from_dict(DOCUMENT).validate()


def test_every_operation_says_what_it_does_and_how_it_refuses() -> None:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            assert operation["description"], (method, path)
            refusals = {status for status in operation["responses"] if status >= "400"}
            assert {"401", "404", "409", "422", "500", "503"} <= refusals, (method, path)


# The server is a thread of this process, and its retries use `random` while a strategy may be at work here.
@pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")
@described.parametrize()
@settings(max_examples=25, suppress_health_check=EVERYTHING)
def test_what_is_made_up_from_the_schema_gets_a_documented_answer(
    case: schemathesis.Case, busy: Busy
) -> None:
    unsaid = [positive_data_acceptance]  # what fits the schema may still not fit the state of things
    busy.lead(case)
    case.call_and_validate(busy.address.url, headers=busy.address.authorization, excluded_checks=unsaid)


def test_sessions_led_from_one_operation_to_the_next_get_documented_answers(busy: Busy) -> None:
    led = described.exclude(tag="repositories").exclude(path_regex="artifacts")

    class Led(led.as_state_machine()):
        """Follows the ids that one answer gives into the next request."""

        def call(self, case: schemathesis.Case, **options: Any) -> Any:
            busy.lead(case)
            return super().call(
                case, **options, base_url=busy.address.url, headers=busy.address.authorization
            )

        def validate_response(self, response: Any, case: schemathesis.Case, *_: Any, **__: Any) -> None:
            case.validate_response(
                response,
                headers=busy.address.authorization,
                excluded_checks=[positive_data_acceptance, negative_data_rejection],
            )

    run_state_machine_as_test(
        Led,
        settings=settings(max_examples=20, stateful_step_count=10, suppress_health_check=EVERYTHING),
    )
