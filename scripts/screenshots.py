"""Make docs/screenshots/ from a real run: a server with sessions of examples/ in several states, seen in Chromium.

Only the pages of a change show a recording (web/tests/fixtures): the server has no such workflow yet. The words that
are being written come from this file, not from a model.

.venv/bin/python -m scripts.screenshots [page…]
"""

import asyncio
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from playwright.async_api import Browser, Page, async_playwright, expect

from belayer import Engine, Rule, Run, Session, Verdict, act, open_engine, this_step
from belayer.api.serve import serve
from belayer.settings import Settings
from belayer.vocabulary.commands import Start
from examples.deploy import deploy
from tests.end_to_end.recorded import ASKED, change, play
from tests.support import site

ROOT = Path(__file__).resolve().parent.parent
SHOWN = ROOT / "docs" / "screenshots"
TOKEN = "only-for-these-pictures"
LOOKS: dict[str, dict[str, Any]] = {
    "light": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light"},
    "dark": {"viewport": {"width": 1280, "height": 800}, "color_scheme": "dark"},
    "phone": {"viewport": {"width": 390, "height": 844}, "color_scheme": "light", "is_mobile": True},
}
WISH = "rename the flag --fast to --quick"
BREAKER = "src/belayer/execution/breaker.py"
REPOSITORY = "https://git.example.org/tool.git"
RULES = (
    Rule(verdict=Verdict.ALLOW, tool="files.*", path="docs/**", note="Words are easy to take back."),
    Rule(verdict=Verdict.ASK, tool="files.delete"),
    Rule(verdict=Verdict.DENY, tool="http_fetch", host="*.internal.example.org"),
)
UPLOAD = {
    "command": 'set -e\nfor wheel in dist/*.whl; do\n  twine upload "$wheel"\ndone | tee upload.log',
    "env": {"TWINE_USERNAME": "ada"},
    "hosts": ["upload.pypi.org"],
    "timeout": 300,
}
COUNTS = """
for (const path of ["app.ini", "client.py", "CHANGELOG.md"]) {
    const file = await tools.files.read({path});
    console.log(path, file.lines);
}
return await human.ask("Count the tests, too?", {choices: ["yes", "no"]});
"""
SHOP = """<!doctype html><title>Rope shop</title>
<style>body { font: 22px sans-serif; margin: 60px; background: #f4efe6 } td { padding: 12px 40px 12px 0 }</style>
<h1>Rope shop</h1><table><tr><td>Half rope, 60 m<td>160 €<tr><td>Sling, 120 cm<td>9 €</table><button>Order</button>"""
FLAGS = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")
STORY = (
    "The setting is read in two places. app.ini gives it in milliseconds, client.py divides it by 1000 before it is "
    "used. If the name loses its unit, the value should be in seconds in both places, "
)


@act(effect="read", timeout=600)
async def think() -> str:
    """Writes its thoughts word by word, and is not done before the pictures are."""
    for word in STORY.split(" "):
        this_step().show("token", message=this_step().key, text=f"{word} ")
        await asyncio.sleep(0.005)
    await asyncio.Event().wait()
    return STORY


@act(effect="read")
async def read(path: Path) -> str:
    return path.read_text()


async def review(run: Run, folder: Path) -> str:
    """Look at a change before anybody else does."""
    await run.plan(
        ("ini", "Read app.ini"), ("client", "Read client.py"), ("think", "Think about it"), ("tell", "Say so")
    )
    await run.step("ini", read, folder / "app.ini")
    await run.step("client", read, folder / "client.py")
    return await run.step("think", think)


@dataclass(frozen=True, slots=True)
class World:
    """Where the server is, and the sessions that the pictures are of."""

    url: str
    running: Session
    approving: Session
    completed: Session
    rewound: Session
    changing: Session
    changed: Session
    graph: str
    """The page of this repository's own graph."""
    command: Session
    scripted: Session
    looked: Session


Prepare = Callable[[Page], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class Picture:
    """One page: where it is, what has to be there, and what is done first."""

    name: str
    path: str
    text: str
    prepare: Prepare | None = None


def pictures(world: World) -> list[Picture]:
    def session(one: Session) -> str:
        return f"/sessions/{one.id}"

    return [
        Picture("inbox", "/inbox", "What is released?", _open_the_approval),
        Picture("sessions", "/sessions", "Prepare a release"),
        Picture("session-running", session(world.running), "is writing…"),
        Picture("session-approval", session(world.approving), "Asks for approval"),
        Picture("session-completed", session(world.completed), "completed", _open_a_step),
        Picture("session-checkpoints", session(world.rewound), "left behind", _press("Checkpoints")),
        Picture("start", "/sessions", "Prepare a release", _write_a_plan),
        Picture("tools", "/tools", "files.write"),
        Picture("policy", "/policy", "Your rules"),
        Picture("figures", "/figures", "Figures", _see_the_plots),
        Picture("changes", "/changes", "Rename the flag"),
        Picture("change-plan", f"/changes/{world.changing.id}", "Approve"),
        Picture("change", f"/changes/{world.changed.id}", "Outcome"),
        Picture("graph", world.graph, "Endpoints", _see_the_map),
        Picture("graph-blast", f"{world.graph}?node={BREAKER}&tab=blast", "Tests to run", _see_the_map),
        Picture("graph-repositories", "/graph", "belayer"),
        Picture("session-command", session(world.command), "Runs in /bin/sh"),
        Picture("session-script", session(world.scripted), "Calls of"),
        Picture("session-made", session(world.looked), "completed", _press("Made")),
    ]


async def _open_the_approval(page: Page) -> None:
    await page.locator("main [data-head]").filter(has_text="files.edit").first.click()


async def _see_the_plots(page: Page) -> None:
    await page.locator("canvas").last.wait_for()


async def _see_the_map(page: Page) -> None:
    """The lines of a large map are drawn a few at a time, by a worker that nobody can ask how far it is."""
    await page.locator("canvas").wait_for()
    await page.wait_for_timeout(2_000)


async def _open_a_step(page: Page) -> None:
    row = page.get_by_role("article").filter(has_text="See what there is").last
    await row.get_by_role("button").first.click()


def _press(name: str) -> Prepare:
    return lambda page: page.get_by_role("button", name=name, exact=True).first.click()


async def _write_a_plan(page: Page) -> None:
    await page.get_by_role("button", name="Start a session").click()
    plan = (ROOT / "examples/plans/open_notes.yaml").read_text()
    await page.get_by_label("Plan (required)").fill(plan)


async def prepare(engine: Engine, url: str, home: Path) -> World:
    """Sessions in every state that one sees on a working day."""
    completed = await finish_some(engine, home)
    approving = await rename(engine, home)
    rewound = await go_back(engine, home)
    await let_some_wait(engine, home)
    (home / "servers").mkdir()
    await deploy_twice(engine, home / "servers")
    folder = project(home / "review")
    running = await engine.start(review, folder=folder, title="Review the renaming of timeout_ms")
    changing, changed = await change_code(engine), await change_code(engine)
    graph = await read_own_code(engine, home)
    engine.rulebook.save(RULES)
    command, scripted, looked = await reach_out(engine, home)
    return World(
        url, running, approving, completed, rewound, changing, changed, graph, command, scripted, looked
    )


async def finish_some(engine: Engine, home: Path) -> Session:
    """Sessions that completed; the last of them."""
    for place in ("alps", "andes"):
        await (await carried_out(engine, project(home / place), "open_notes")).result()
    for name in ("knots", "anchors", "slings", "pulleys", "harness"):
        await (await lay_out(engine, home / name)).result()
    last = await lay_out(engine, home / "ropes")
    await last.result()
    return last


async def lay_out(engine: Engine, folder: Path) -> Session:
    title = f"Lay out the package {folder.name}"
    return await carried_out(engine, folder, "new_package", {"name": folder.name}, title=title)


async def rename(engine: Engine, home: Path) -> Session:
    """A session that wants to change a file and has to ask."""
    asks = (Rule(verdict=Verdict.ASK, tool="files.edit"),)
    given = {"old": "timeout_ms", "new": "timeout", "file": "app.ini"}
    session = await carried_out(engine, project(home / "client"), "rename_setting", given, policy=asks)
    await session.settled()
    await session.answer(True)
    await session.settled()
    return session


async def go_back(engine: Engine, home: Path) -> Session:
    """A session that was rewound to the last but one of its steps."""
    session = await lay_out(engine, home / "carabiners")
    await session.result()
    await session.checkpoint("before the tests are rewritten")
    ended = [step.seq for step in (await session.state()).steps.values() if step.seconds is not None]
    await session.rewind(sorted(ended)[-2])
    return session


async def let_some_wait(engine: Engine, home: Path) -> None:
    """A form to fill in, and a step that failed."""
    await (await carried_out(engine, project(home / "shop"), "release")).settled()
    page = {"url": "https://status.invalid/", "mirror": "https://mirror.invalid/", "words": "all well"}
    await (await carried_out(engine, home / "watch", "watch_page", page)).settled()


async def deploy_twice(engine: Engine, servers: Path) -> None:
    """One that waits for leave, and one that was not wanted."""
    for version in ("1.4", "1.3"):
        session = await engine.start(deploy, version=version, servers=servers, title=f"Deploy {version}")
        await session.settled()
    await session.cancel()


async def read_own_code(engine: Engine, home: Path) -> str:
    """The graph of Belayer itself; where its page is."""
    origin = home / "belayer"
    await asyncio.to_thread(subprocess.run, ["git", "clone", "--quiet", ROOT, origin], check=True)
    command = Start(workflow="graph", input={"repo_url": str(origin)}, title="Graph of belayer")
    made: Any = await engine.result(await engine.begin(command))
    return f"/graph/{made['repo_id']}"


async def reach_out(engine: Engine, home: Path) -> tuple[Session, Session, Session]:
    """A command that wants to reach the world, a program that asks, and a look at a page."""
    folder = project(home / "release")
    command = await engine.carry_out(
        _one("Publish the package", "shell.run_online", UPLOAD), workspace=folder
    )
    scripted = await engine.carry_out(
        _one("Count the settings", "code", {"source": COUNTS}), workspace=folder
    )
    for session in (command, scripted):
        await session.settled()
    return command, scripted, await look_at_a_shop(engine, home)


async def look_at_a_shop(engine: Engine, home: Path) -> Session:
    async with site.serving({"/": site.answer(SHOP, content_type="text/html; charset=utf-8")}) as shop:
        shot = {"id": "shot", "title": "Take a picture", "tool": "browser.screenshot", "needs": ["open"]}
        looks = {
            "title": "Look at the rope shop",
            "steps": [
                {
                    "id": "open",
                    "title": "Open the shop",
                    "tool": "browser.open",
                    "params": {"url": shop.url()},
                },
                {**shot, "params": {}},
            ],
        }
        looked = await engine.carry_out(looks, workspace=home / "watch")
        await looked.result()
    return looked


def _one(title: str, tool: str, params: dict[str, Any]) -> dict[str, Any]:
    """A plan of one call."""
    return {"title": title, "steps": [{"id": "it", "title": title, "tool": tool, "params": params}]}


async def change_code(engine: Engine) -> Session:
    session = await engine.start(change, title="Rename the flag", message=WISH, repo_url=REPOSITORY)
    await session.settled()
    return session


async def carried_out(
    engine: Engine, folder: Path, plan: str, inputs: dict[str, Any] | None = None, **more: Any
) -> Session:
    """A session of one of the examples, in a folder of its own."""
    folder.mkdir(exist_ok=True)
    content = yaml.safe_load((ROOT / f"examples/plans/{plan}.yaml").read_text())
    return await engine.carry_out(content, inputs, workspace=folder, **more)


def project(folder: Path) -> Path:
    """A folder with a little of everything that the plans look for."""
    folder.mkdir()
    (folder / "app.ini").write_text("[client]\nhost = localhost\ntimeout_ms = 1500\nretries = 3\n")
    (folder / "client.py").write_text('# TODO: close it\nwait = int(config["timeout_ms"]) / 1000\n')
    (folder / "CHANGELOG.md").write_text("# Changelog\n")
    return folder


@asynccontextmanager
async def serving(home: Path) -> AsyncGenerator[World]:
    """A server on a free port of this machine, with everything that is to be seen."""
    settings = Settings(
        home=home / "home",
        port=0,
        max_sessions=0,
        session_timeout=0,
        grace=0,
        max_retries=0,
        private_hosts="127.0.0.1",
    )
    began: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    async with open_engine(settings=settings, workflows=[deploy, review, change]) as engine:
        task = asyncio.create_task(serve(engine, settings, TOKEN, began.set_result))
        try:
            yield await prepare(engine, await began, home)
        finally:
            task.cancel()
            await asyncio.wait({task})


async def take(browser: Browser, look: str, world: World, wanted: set[str]) -> None:
    """Every picture in one look."""
    context = await browser.new_context(**LOOKS[look], reduced_motion="reduce", locale="en-GB")
    page = await context.new_page()
    await play(page, world.changing, ASKED)
    await play(page, world.changed)
    await page.goto(f"{world.url}/?token={TOKEN}")
    for picture in pictures(world):
        if wanted and picture.name not in wanted:
            continue
        await page.goto(f"{world.url}{picture.path}")
        await expect(
            page.locator("main").get_by_text(picture.text).filter(visible=True).first
        ).to_be_visible()
        if picture.prepare is not None:
            await picture.prepare(page)
        await expect(page.get_by_role("status").filter(has_text="Loading")).to_have_count(0)
        await page.evaluate(
            "new Promise(requestAnimationFrame).then(() => new Promise(requestAnimationFrame))"
        )
        await page.screenshot(path=SHOWN / f"{picture.name}-{look}.png")
    await context.close()


async def main(wanted: set[str]) -> None:
    SHOWN.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="climb-") as folder:
        async with async_playwright() as playwright, serving(Path(folder)) as world:
            browser = await playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
            for look in LOOKS:
                await take(browser, look, world, wanted)
            await browser.close()


if __name__ == "__main__":
    asyncio.run(main(set(sys.argv[1:])))
