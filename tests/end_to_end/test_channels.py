"""What the tools that reach the world bring to a page: pictures that were taken, and calls that wait for a decision."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from tests.end_to_end.visitor import PHONE, Visitor
from tests.end_to_end.work import OpenStage, Stage
from tests.support.pages import page
from tests.support.site import serving

LINE = (
    'set -e\nfor it in *.whl; do\n\n  curl -T "$it" "https://up.example.org/?a=1&b=<b>" | tee \'log\'\ndone'
)
COMMAND = {
    "command": LINE,
    "cwd": "build",
    "env": {"WHO": "ada lovelace", "TOKEN_FILE": "a=b"},
    "hosts": ["up.example.org", "pypi.org:8443"],
    "timeout": 300,
}
WORDS = ["curl", "-H", "X-From: a b", "https://up.example.org/?it's"]
LETTER = {
    "to": ["ada@example.org", "grace@example.org"],
    "bcc": ["audit@example.org"],
    "subject": "Your ropes",
    "text": "Dear Ada,\n\nthey are on their way.\n",
    "html": "<p onclick='hacked=1'>Dear <b>Ada</b></p>",
    "attachments": ["note.txt"],
}
NOTICE = {"target": "team", "title": "Release 1.4", "text": "It is out.", "level": "warning"}
CHANNELS: dict[str, Any] = {
    "smtp_url": "smtp://localhost:25",
    "mail_from": "Belayer <bot@example.org>",
    "notify_targets": f"team=webhook+https://example.org/#whsec_{'QUJD' * 8}",
}

in_every_look = pytest.mark.parametrize(
    "visitor",
    [{"color_scheme": "light"}, {"color_scheme": "dark"}, PHONE],
    indirect=True,
    ids=["light", "dark", "phone"],
)


def calls(tool: str, params: dict[str, Any]) -> dict[str, Any]:
    """A plan of one call."""
    return {
        "title": f"Calls {tool}",
        "steps": [{"id": "it", "title": "Do it", "tool": tool, "params": params}],
    }


async def prepared(open_stage: OpenStage, **changes: Any) -> Stage:
    on = await open_stage(**CHANNELS, **changes)
    (on.folder / "build").mkdir()
    (on.folder / "note.txt").write_text("a note\n")
    return on


async def assert_accessible(visitor: Visitor) -> None:
    assert await visitor.violations() == []
    assert await visitor.is_without_sideways_scroll()


@in_every_look
async def test_a_picture_that_a_step_took_is_shown_and_can_be_downloaded(
    open_stage: OpenStage, visitor: Visitor, tmp_path: Path
) -> None:
    async with serving({"/": page("<h1>Rope shop</h1>")}) as shop:
        on = await prepared(open_stage, private_hosts=f"127.0.0.1:{shop.port}")
        looks = {
            "title": "Look at the shop",
            "steps": [
                {"id": "open", "tool": "browser.open", "params": {"url": shop.url()}},
                {"id": "shot", "tool": "browser.screenshot", "needs": ["open"], "params": {}},
            ],
        }
        session = await on.begin(looks)
        await session.result()
    await visitor.enter(on.server, f"/sessions/{session.id}")
    await visitor.press("Made")
    picture = visitor.page.get_by_role("complementary").get_by_role("img", name="Made by the step shot")
    await expect(picture).to_be_visible()
    await expect(picture).to_have_js_property("complete", value=True)
    assert await picture.evaluate("image => image.naturalWidth") > 0
    await assert_accessible(visitor)

    async with visitor.page.expect_download() as downloading:
        await visitor.page.get_by_role("link", name="shot.screenshot.png").click()
    kept = tmp_path / "kept.png"
    await (await downloading.value).save_as(kept)
    _, whole = await on.engine.artifact(session.id, "shot.screenshot.png")
    assert kept.read_bytes() == whole

    await picture.click()
    await expect(
        visitor.page.get_by_role("dialog", name="shot.screenshot.png").get_by_role("img")
    ).to_be_visible()
    await assert_accessible(visitor)


@in_every_look
async def test_an_approval_of_a_command_shows_exactly_what_will_be_run(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    on = await prepared(open_stage)
    session = await on.begin_settled(calls("shell.run_online", COMMAND))
    await visitor.enter(on.server, f"/sessions/{session.id}")
    command = visitor.asked.get_by_role("figure").filter(has_text="Runs in /bin/sh")
    await expect(command).to_contain_text("5 lines")
    lines = await command.locator("pre > div").all_text_contents()
    assert [line.rstrip() for line in lines] == LINE.split("\n")
    facts = visitor.asked.locator("dl").first
    for fact in (
        "In folder" + str(on.folder / "build"),
        "VariablesWHO=ada lovelace\nTOKEN_FILE=a=b",
        "May reachup.example.orgpypi.org:8443",
        "timeout300",
    ):
        assert fact in (await facts.text_content() or "")
    await assert_accessible(visitor)
    await visitor.asked.get_by_text("The same as it is recorded").click()
    await expect(visitor.asked).to_contain_text('"TOKEN_FILE": "a=b"')
    await assert_accessible(visitor)


async def test_words_that_no_shell_reads_are_shown_with_their_bounds(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    on = await prepared(open_stage)
    await on.begin_settled(calls("shell.run_online", {"argv": WORDS, "hosts": ["up.example.org"]}))
    await visitor.enter(on.server)
    command = visitor.page.get_by_role("figure").filter(has_text="without a shell")
    await expect(command.locator("pre")).to_have_text(
        "curl -H 'X-From: a b' 'https://up.example.org/?it'\\''s'"
    )


@in_every_look
async def test_a_letter_and_a_notification_are_shown_whole_before_they_are_sent(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    on = await prepared(open_stage)
    await on.begin_settled(calls("email", LETTER))
    await on.begin_settled(calls("notify", NOTICE))
    await visitor.enter(on.server)
    heads = visitor.page.locator("main [data-head]")
    await expect(heads).to_have_count(2)
    shown = visitor.page.get_by_role("listitem").filter(has=visitor.page.locator('[aria-expanded="true"]'))
    told = {
        "email": (
            "Belayer <bot@example.org>",
            "ada@example.org, grace@example.org",
            "audit@example.org (unseen by the others)",
            "Your ropes",
            "they are on their way.",
            "<p onclick='hacked=1'>",
            "note.txt",
        ),
        "notify": ("team (webhook)", "warning", "Release 1.4", "It is out."),
    }
    for tool, words in told.items():
        await heads.filter(has_text=tool).click()
        for word in words:
            await expect(shown).to_contain_text(word)
        await assert_accessible(visitor)


async def test_the_calls_of_a_script_stand_under_the_name_of_its_step(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    on = await prepared(open_stage)
    source = 'await tools.files.read({path: "note.txt"}); return await human.ask("Go on?", {kind: "confirm"})'
    session = await on.begin_settled(calls("code", {"source": source}))
    await visitor.enter(on.server, f"/sessions/{session.id}")
    await expect(visitor.timeline.get_by_text("Calls of “Do it”")).to_be_visible()
    await expect(visitor.row("files.read")).to_contain_text("note.txt")
    await expect(visitor.row("files.read")).to_contain_text("line 1")
    await visitor.press("Show the script")
    await expect(visitor.timeline.get_by_role("figure").filter(has_text="Script of")).to_contain_text(source)
    await expect(visitor.asked).to_contain_text("Call 2 of the script of “Do it”")
    await assert_accessible(visitor)
    await session.answer(True)
    await expect(visitor.status("completed")).to_be_visible()
    await expect(visitor.row("Do it")).to_contain_text("code")
    await expect(visitor.timeline.get_by_text("settled")).to_have_count(0)


async def test_a_picture_is_seen_in_the_timeline_where_it_was_made(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    async with serving({"/": page("<h1>Rope shop</h1>")}) as shop:
        on = await prepared(open_stage, private_hosts=f"127.0.0.1:{shop.port}")
        source = f'await tools.browser.open({{url: "{shop.url()}"}}); await tools.browser.screenshot({{}})'
        session = await on.begin(calls("code", {"source": source}))
        await session.result()
    await visitor.enter(on.server, f"/sessions/{session.id}")
    picture = visitor.timeline.get_by_role("img")
    await expect(picture).to_be_visible()
    await expect(picture).to_have_js_property("complete", value=True)
    assert await picture.evaluate("image => image.naturalWidth") > 0
    await assert_accessible(visitor)


@in_every_look
async def test_what_a_command_prints_is_read_as_in_a_terminal_while_it_runs_and_after(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    on = await prepared(open_stage, sandbox="none")
    command = (
        r"printf '\033[31mred\033[0m and plain\n'; seq 2 600; printf '1 %%\r2 %%\n'; "
        "while [ ! -e go ]; do sleep 0.1; done; echo broken >&2; exit 3"
    )
    session = await on.begin(calls("shell.run", {"command": command}))
    await visitor.enter(on.server, f"/sessions/{session.id}")
    await expect(visitor.row("Do it")).to_contain_text("running")
    await expect(visitor.page.get_by_text("no sandbox")).to_be_visible()
    (on.folder / "go").touch()
    await expect(visitor.status("completed")).to_be_visible()
    row = visitor.row("Do it")
    await expect(row).to_contain_text("exit 3")
    await row.get_by_role("button", name="Do it").click()
    printed = row.get_by_role("figure").filter(has_text="601 lines")
    await expect(printed).to_contain_text("(1 earlier)")
    await printed.get_by_role("button", name="Show the 201 lines before these").click()
    await expect(printed.get_by_text("red", exact=True)).to_have_class("text-bad")
    await expect(row.get_by_role("figure").filter(has_text="stderr")).to_contain_text("broken")
    await assert_accessible(visitor)


async def test_lines_are_followed_as_they_come(open_stage: OpenStage, visitor: Visitor) -> None:
    on = await prepared(open_stage, sandbox="none")
    command = (
        "while [ ! -e go ]; do sleep 0.1; done; seq -f 'line %g.' 1 300; "
        r"printf '\033[1;32mready\033[0m\n'; while [ -e go ]; do sleep 0.1; done"
    )
    session = await on.begin(calls("shell.run", {"command": command}))
    await visitor.enter(on.server, f"/sessions/{session.id}")
    await expect(visitor.timeline.get_by_text("live", exact=True)).to_be_visible()
    (on.folder / "go").touch()
    live = visitor.timeline.get_by_role("figure").filter(has_text="as it prints")
    await expect(live.get_by_text("ready", exact=True)).to_be_in_viewport()
    await expect(live).to_contain_text("301 lines seen")
    await assert_accessible(visitor)
    (on.folder / "go").unlink()
    await expect(visitor.status("completed")).to_be_visible()
    await expect(live).to_have_count(0)


async def test_tools_are_in_families_and_found_by_what_they_do(
    open_stage: OpenStage, visitor: Visitor
) -> None:
    on = await prepared(open_stage)
    await visitor.enter(on.server, "/tools")
    for family in ("browser", "files", "shell"):
        await expect(visitor.page.get_by_role("columnheader", name=family)).to_be_visible()
    await visitor.page.get_by_label("Search tools").fill("background")
    await expect(visitor.page.get_by_role("button", name="shell.poll")).to_be_visible()
    await expect(visitor.page.get_by_role("button", name="files.read")).to_have_count(0)
    await visitor.page.get_by_label("Search tools").fill("")
    await visitor.page.get_by_role("button", name="not well").click()
    await expect(visitor.page.get_by_role("button", name="web_search")).to_be_visible()
    await expect(visitor.page.get_by_role("button", name="files.read")).to_have_count(0)
    await assert_accessible(visitor)
