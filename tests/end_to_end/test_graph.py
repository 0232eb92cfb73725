"""The graph of a repository: built from the page, seen, searched and asked, also when it is large or hostile."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from playwright.async_api import Locator, Page, expect

from tests.end_to_end.visitor import PHONE, Visitor
from tests.end_to_end.work import OpenStage, Stage
from tests.support.git_server import repository
from tests.support.shop import SHOP

looks = pytest.mark.parametrize(
    "visitor",
    [{"color_scheme": "light"}, {"color_scheme": "dark"}, PHONE],
    indirect=True,
    ids=["light", "dark", "phone"],
)
ROUNDED = "shop/money.py::rounded"
FEWEST_COLOURS = 8
IS_PAINTED = f"""() => {{
    const shown = document.querySelector("canvas");
    if (shown === null || shown.width < 2) return false;
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [shown.width, shown.height];
    const pen = copy.getContext("2d", {{ willReadFrequently: true }});
    pen.drawImage(shown, 0, 0);
    const pixels = new Uint32Array(pen.getImageData(0, 0, copy.width, copy.height).data.buffer);
    return new Set(pixels).size >= {FEWEST_COLOURS};
}}"""
NOTE_LONG_TASKS = """
    window.longTasks = [];
    const note = (list) => window.longTasks.push(...list.getEntries().map((task) => task.duration));
    new PerformanceObserver(note).observe({ type: "longtask", buffered: true });
"""
LONGEST_TASK = 1_000
MODULES, FUNCTIONS = 3_000, 4
MOST_DRAWN = 10_000


async def made(on: Stage, origin: Path, files: dict[str, str]) -> str:
    """The page of a repository with these files."""
    repository(origin, files)
    async with on.server.client() as client:
        answer = await client.post(
            "/clone-and-generate", params={"wait": True}, json={"repo_url": str(origin)}
        )
    assert answer.status_code == 200, answer.text
    return f"/graph/{answer.json()['repo_id']}"


def drawing(page: Page) -> Locator:
    return page.get_by_role("region", name="Map of")


async def painted(page: Page) -> None:
    await expect(drawing(page)).to_be_visible()
    await page.wait_for_function(IS_PAINTED)


async def search(page: Page, text: str, name: str) -> None:
    """Find a symbol without a mouse."""
    field = page.get_by_role("combobox", name="Search a symbol")
    await expect(field).to_be_visible()
    await page.keyboard.press("/")
    await expect(field).to_be_focused()
    await page.keyboard.type(text)
    await expect(page.get_by_role("listbox").get_by_role("option", name=name).first).to_be_visible()
    await page.keyboard.press("Enter")


async def test_a_repository_is_built_from_the_page_and_opened(
    open_stage: OpenStage, visitor: Visitor, tmp_path: Path
) -> None:
    page = visitor.page
    repository(tmp_path / "shop", SHOP)
    on = await open_stage()
    await visitor.enter(on.server, "/graph")
    await expect(page.get_by_text("No repository has been read yet")).to_be_visible()
    await page.get_by_label("Address or folder").fill(str(tmp_path / "shop"))
    await visitor.press("Build the graph")
    await expect(page.get_by_role("heading", name="shop", level=1)).to_be_visible()
    await painted(page)
    await page.get_by_role("link", name="All repositories").click()
    await expect(page.get_by_role("list", name="Repositories")).to_contain_text(f"{len(SHOP)} files")


async def test_what_cannot_be_built_says_why(open_stage: OpenStage, visitor: Visitor, tmp_path: Path) -> None:
    visitor.expect_complaint("422")
    page = visitor.page
    (tmp_path / "plain").mkdir()
    on = await open_stage()
    await visitor.enter(on.server, "/graph")
    await page.get_by_label("Address or folder").fill("ext::sh -c id")
    await visitor.press("Build the graph")
    await expect(page.get_by_role("alert")).to_be_visible()
    await page.get_by_label("Address or folder").fill(str(tmp_path / "plain"))
    await visitor.press("Build the graph")
    building = page.get_by_role("region", name="Building")
    await expect(building.get_by_role("alert")).to_contain_text("git")
    await expect(building.get_by_text("failed", exact=True)).to_be_visible()


@looks
async def test_a_graph_is_shown_and_asked_and_is_accessible(
    open_stage: OpenStage, visitor: Visitor, tmp_path: Path
) -> None:
    page = visitor.page
    on = await open_stage()
    path = await made(on, tmp_path / "shop", SHOP)

    async def assert_fine(where: str) -> None:
        await expect(page.get_by_text("Loading")).to_have_count(0)
        assert await visitor.is_without_sideways_scroll(), where
        assert await visitor.violations() == [], where

    await visitor.enter(on.server, "/graph")
    await expect(page.get_by_role("list", name="Repositories")).to_be_visible()
    await assert_fine("the repositories")
    await page.goto(f"{on.server.url}{path}")
    await painted(page)
    await expect(page.get_by_role("list", name="Modules")).to_contain_text("shop/cart.py")
    await assert_fine("the modules")
    await search(page, "rounded", "rounded")
    await expect(page.get_by_role("heading", name="rounded")).to_be_visible()
    await expect(page.get_by_role("region", name="Called by")).to_be_visible()
    await assert_fine("the neighbours")
    await page.get_by_role("tab", name="Dependencies").click()
    await expect(page.get_by_role("region", name="Needed by modules")).to_contain_text("shop/cart.py")
    await assert_fine("the dependencies")
    await page.get_by_role("tab", name="Blast radius").click()
    await expect(page.get_by_role("region", name="Risk")).to_be_visible()
    await painted(page)
    tests = page.get_by_role("region", name="Tests to run")
    await tests.get_by_text("Why:").first.click()
    await assert_fine("the blast radius")
    await page.get_by_role("tab", name="Endpoints").click()
    await page.get_by_label("Request").fill("/carts/42")
    await expect(page.get_by_role("list", name="Endpoints")).to_contain_text("read_cart")
    await assert_fine("the endpoints")


async def test_each_hit_is_explained_by_hops_that_lead_on(
    open_stage: OpenStage, visitor: Visitor, tmp_path: Path
) -> None:
    page = visitor.page
    on = await open_stage()
    path = await made(on, tmp_path / "shop", SHOP)
    await visitor.enter(on.server, f"{path}?node={quote(ROUNDED, safe='')}&tab=blast&depth=4")
    tests = page.get_by_role("region", name="Tests to run")
    await expect(tests).to_contain_text("test_a_cart_has_a_total")
    await tests.get_by_text("Why:").first.click()
    await expect(tests.get_by_text("tests/test_cart.py:").nth(1)).to_be_visible()
    hop = tests.get_by_role("button", name="rounded").first
    await expect(hop).to_be_visible()
    endpoints = page.get_by_role("region", name="Endpoints")
    await endpoints.get_by_role("button", name="/carts/{cart_id}").click()
    await expect(page.get_by_role("heading", name="/carts/{cart_id}")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_role("heading", name="rounded")).to_be_visible()


async def test_a_link_restores_the_view(open_stage: OpenStage, visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.page
    on = await open_stage()
    path = await made(on, tmp_path / "shop", SHOP)
    await visitor.enter(on.server, path)
    await search(page, "rounded", "rounded")
    await page.get_by_role("tab", name="Blast radius").click()
    await page.get_by_label("Up to").fill("2")
    await page.get_by_text("What it needs").click()
    await page.get_by_label("How sure a link has to be").select_option("Resolved only")
    await page.get_by_text("On the map").click()
    await expect(page).to_have_url(
        f"{on.server.url}{path}?node={quote(ROUNDED, safe='')}&tab=blast&least=resolved"
        "&depth=2&direction=dependencies&draw=map"
    )
    await page.reload()
    await expect(page.get_by_role("heading", name="rounded")).to_be_visible()
    await expect(page.get_by_role("tab", name="Blast radius")).to_have_attribute("aria-selected", "true")
    await expect(page.get_by_label("Up to")).to_have_value("2")
    await expect(page.get_by_label("What it needs")).to_be_checked()
    await expect(page.get_by_label("On the map")).to_be_checked()
    await expect(page.get_by_label("How sure a link has to be")).to_have_value("resolved")


async def test_a_node_is_chosen_by_a_click_on_the_map(
    open_stage: OpenStage, visitor: Visitor, tmp_path: Path
) -> None:
    page = visitor.page
    on = await open_stage()
    path = await made(on, tmp_path / "lonely", {"only.py": "def alone():\n    return 1\n"})
    await visitor.enter(on.server, path)
    await painted_or_small(page)
    await drawing(page).click()
    await expect(page.get_by_role("heading", name="only.py")).to_be_visible()
    await visitor.press("Choose nothing")
    await expect(page.get_by_role("heading", name="only.py")).to_have_count(0)


async def painted_or_small(page: Page) -> None:
    """A drawing of one node has few colours; it is there once it has more than its ground."""
    await expect(drawing(page)).to_be_visible()
    await page.wait_for_function(IS_PAINTED.replace(f">= {FEWEST_COLOURS}", ">= 2"))


async def test_a_drawing_can_be_kept(open_stage: OpenStage, visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.page
    on = await open_stage()
    path = await made(on, tmp_path / "shop", SHOP)
    await visitor.enter(on.server, path)
    for name, begins in (("Download as DOT", "digraph"), ("Download as Mermaid", "flowchart")):
        async with page.expect_download() as downloading:
            await page.get_by_role("link", name=name).click()
        kept = tmp_path / "kept"
        await (await downloading.value).save_as(kept)
        assert kept.read_text().startswith(begins)


async def test_hostile_names_stay_names(open_stage: OpenStage, visitor: Visitor, tmp_path: Path) -> None:
    page = visitor.page
    on = await open_stage()
    image = '<img src=x onerror="window.hacked=1">.py'
    files = {image: "def f():\n    return 1\n", "a\u202ename.py": "def g():\n    return 2\n"}
    path = await made(on, tmp_path / "hostile", files)
    await visitor.enter(on.server, path)
    modules = page.get_by_role("list", name="Modules")
    await expect(modules).to_contain_text(image)
    await expect(modules).to_contain_text("a<U+202E>name.py")
    await modules.get_by_role("button", name=image).click()
    await expect(page.get_by_role("heading", name=image)).to_be_visible()
    await page.get_by_role("tab", name="Blast radius").click()
    await expect(page.get_by_role("region", name="Risk")).to_be_visible()
    assert await page.evaluate("window.hacked") is None
    assert await page.locator("img, iframe, object, embed").count() == 0


@pytest.mark.parametrize("visitor", [{"reduced_motion": "no-preference"}], indirect=True)
async def test_ten_thousand_nodes_are_moved_and_searched_without_a_stall(
    open_stage: OpenStage, visitor: Visitor, tmp_path: Path
) -> None:
    page = visitor.page
    await page.add_init_script(NOTE_LONG_TASKS)
    on = await open_stage()
    path = await made(on, tmp_path / "large", large())
    await visitor.enter(on.server, f"{path}?level=symbols")
    await painted(page)
    await expect(page.get_by_text(f"The {MOST_DRAWN:,} best connected of")).to_be_visible()
    await drag_and_zoom(page)
    await search(page, f"work_{MODULES - 1}_0", f"work_{MODULES - 1}_0")
    await expect(page.get_by_role("heading", name=f"work_{MODULES - 1}_0")).to_be_visible()
    await page.get_by_role("tab", name="Blast radius").click()
    await expect(page.get_by_role("region", name="Risk")).to_be_visible()
    await page.get_by_text("On the map").click()
    await drag_and_zoom(page)
    await painted(page)
    tasks: list[float] = await page.evaluate("window.longTasks")
    assert max(tasks, default=0) < LONGEST_TASK


async def drag_and_zoom(page: Page) -> None:
    box: Any = await drawing(page).bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    await page.mouse.move(x, y)
    await page.mouse.down()
    for step in range(20):
        await page.mouse.move(x + 6 * step, y + 4 * step)
    await page.mouse.up()
    for turn in (-200, 200):
        for _ in range(6):
            await page.mouse.wheel(0, turn)


def large() -> dict[str, str]:
    """Modules of a few functions each, that call what came before them."""
    return {f"pkg{number % 30:02d}/mod_{number}.py": module(number) for number in range(MODULES)}


def module(number: int) -> str:
    used = sorted({number // 2, number // 3}) if number > 1 else []
    imports = [f"from pkg{one % 30:02d}.mod_{one} import work_{one}_0" for one in used]
    called = " + ".join(f"work_{one}_0()" for one in used) or "1"
    functions = [
        f"def work_{number}_{place}():\n    return {called if place == 0 else f'work_{number}_{place - 1}()'}\n"
        for place in range(FUNCTIONS)
    ]
    return "\n".join([*imports, "", *functions])
