"""Every example plan does what its first line says."""

import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from belayer import open_engine
from belayer.engine import Engine, Session
from belayer.settings import read_settings
from belayer.vocabulary.commands import Start
from belayer.vocabulary.events.event import Json, Status
from belayer.workflows.plan.source import read_plan

PLANS = Path(__file__).parents[2] / "examples" / "plans"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002 - the name is the library's


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    pages = tmp_path / "site"
    pages.mkdir()
    (pages / "index.html").write_text("<html><body><p>The long awaited thing is here.</p></body></html>")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(pages)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    settings = read_settings(home=tmp_path / "home", private_hosts="127.0.0.1")
    async with open_engine(settings=settings) as opened:
        yield opened


async def begin(engine: Engine, plan_name: str, folder: Path, /, **inputs: Json) -> Session:
    plan = read_plan((PLANS / plan_name).read_text(), plan_name).data
    command = Start(workflow="plan", input={"plan": plan, "inputs": inputs}, workspace=str(folder))
    return engine.session(await engine.begin(command))


async def result(session: Session) -> dict[str, Any]:
    ended = await session.result()
    assert isinstance(ended, dict)
    return ended


def test_there_are_at_least_five_plans() -> None:
    assert len(list(PLANS.iterdir())) >= 5


async def test_a_package_is_laid_out(engine: Engine, folder: Path) -> None:
    session = await begin(engine, "new_package.yaml", folder, name="ropes")
    listed = (await result(session))["outputs"]["look"]["entries"]
    assert {entry["path"] for entry in listed if entry["kind"] == "file"} == {
        "pyproject.toml",
        "src/ropes/__init__.py",
        "tests/test_ropes.py",
    }


async def test_a_setting_is_renamed_once_a_person_agrees(engine: Engine, folder: Path) -> None:
    (folder / "app.ini").write_text("timeout_ms = 5\n# timeout_ms is in milliseconds\n")
    (folder / "app.py").write_text("read('timeout_ms')\n")
    session = await begin(engine, "rename_setting.yaml", folder, old="timeout_ms", new="wait", file="app.ini")
    assert (await session.settled()).status is Status.WAITING
    await session.answer(True)
    await result(session)
    assert (folder / "app.ini").read_text() == "wait = 5\n# wait is in milliseconds\n"
    assert "2 places" in (folder / "renamed-timeout_ms.md").read_text()


async def test_a_setting_stays_when_a_person_says_no(engine: Engine, folder: Path) -> None:
    (folder / "app.ini").write_text("timeout_ms = 5\n")
    session = await begin(engine, "rename_setting.yaml", folder, old="timeout_ms", new="wait", file="app.ini")
    await session.settled()
    await session.answer(False)
    assert set((await result(session))["skipped"]) == {"change", "left", "report"}
    assert (folder / "app.ini").read_text() == "timeout_ms = 5\n"


async def test_open_notes_are_collected_although_there_is_no_old_report(engine: Engine, folder: Path) -> None:
    (folder / "a.py").write_text("x = 1  # TODO: y\n")
    ended = await result(await begin(engine, "open_notes.yaml", folder))
    assert ended["steps"] == {"find": "completed", "old": "failed", "write": "completed"}
    assert "TODO: y" in (folder / "open-notes.md").read_text()


async def test_a_page_is_taken_from_its_mirror(engine: Engine, folder: Path, site: str) -> None:
    session = await begin(
        engine,
        "watch_page.yaml",
        folder,
        url=f"{site}/gone.html",
        mirror=f"{site}/index.html",
        words="awaited",
    )
    await session.settled()
    await session.answer("done")
    await result(session)
    assert "The long awaited thing is here." in (folder / "page.txt").read_text()


async def test_a_release_is_prepared(engine: Engine, folder: Path) -> None:
    (folder / "CHANGELOG.md").write_text("# Changelog\n\n## 1.0\n")
    session = await begin(engine, "release.yaml", folder)
    await session.settled()
    await session.answer({"version": "1.1", "summary": "Faster."})
    assert (await result(session))["steps"]["drafts"] == "failed"
    assert (folder / "CHANGELOG.md").read_text() == "# Changelog\n\n## 1.1\n\n- Faster.\n\n## 1.0\n"
    assert (folder / "VERSION").read_text() == "1.1\n"
    assert "no draft" in (folder / "release.log").read_text()


async def test_pages_are_mirrored_and_a_missing_one_takes_only_its_copy_along(
    engine: Engine, folder: Path, site: str
) -> None:
    ended = await result(await begin(engine, "mirror_docs.json", folder, base=site))
    assert ended["steps"] == {
        "index": "completed",
        "guide": "failed",
        "keep_index": "completed",
        "keep_guide": "skipped",
    }
