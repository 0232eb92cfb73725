"""What is on a page, read from a world of its own there: the page's scripts can neither see nor change how.

Whatever is read is cut to size before it leaves the page, and cleaned when it arrives.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Literal, Protocol, cast

from playwright.async_api import Error

from belayer.tools.charsets import cleaned
from belayer.vocabulary.errors import ConfigurationError
from belayer.vocabulary.events.event import Json

Form = Literal["text", "html", "links", "table", "attribute"]

MOST_TEXT = 200_000
_MOST_ITEMS = 1_000
_MOST_CELLS = 100
_LONGEST_ITEM = 2_000
_LONGEST_TITLE = 500
_LONGEST_URL = 4_096
_WORLD = "belayer"
_PATIENCE_MS = 10_000
_LOOKS = 3
_TITLE = f"() => String(document.title).slice(0, {_LONGEST_TITLE})"
_LOOK = """(want) => {
  const cut = (text, most) => String(text ?? "").slice(0, most);
  let found;
  try {
    found = want.selector === null ? [document.body ?? document.documentElement]
      : [...document.querySelectorAll(want.selector)];
  } catch (error) {
    return {unfit: true};
  }
  found = found.filter((one) => one !== null);
  const items = [];
  let size = 0, cutOff = false;
  const add = (item, length) => {
    if (items.length >= want.items || size + length > want.text) { cutOff = true; return false; }
    items.push(item);
    size += length;
    return true;
  };
  const whole = (texts) => {
    let text = "";
    for (const one of texts) {
      text += (text ? "\\n" : "") + cut(one, want.text + 1 - text.length);
      if (text.length > want.text) break;
    }
    return {count: found.length, value: text.slice(0, want.text), cutOff: text.length > want.text};
  };
  const within = (selector) => found.flatMap((one) =>
    [...(one.matches(selector) ? [one] : []), ...one.querySelectorAll(selector)]);
  switch (want.form) {
    case "text": return whole(function* () { for (const one of found) yield one.innerText ?? one.textContent; }());
    case "html": return whole(function* () { for (const one of found) yield one.outerHTML; }());
    case "links":
      for (const link of new Set(within("a[href], area[href]"))) {
        if (!/^https?:/.test(link.href)) continue;
        const item = {text: cut(link.innerText, want.item).trim(), url: cut(link.href, want.item)};
        if (!add(item, item.text.length + item.url.length)) break;
      }
      break;
    case "table": {
      const table = within("table")[0];
      for (const row of table?.rows ?? []) {
        const cells = [...row.cells].slice(0, want.cells).map((cell) => cut(cell.innerText, want.item).trim());
        if (!add(cells, cells.join("").length)) break;
      }
      return {count: table ? 1 : 0, value: items, cutOff};
    }
    case "attribute":
      for (const one of found) {
        const value = one.getAttribute(want.attribute);
        if (value !== null && !add(cut(value, want.item), Math.min(value.length, want.item))) break;
      }
  }
  return {count: found.length, value: items, cutOff};
}"""
_PLACE = """(selector) => {
  const page = document.documentElement, one = selector === null ? page : document.querySelector(selector);
  if (one === null) return null;
  if (selector === null)
    return [0, 0, Math.max(page.scrollWidth, innerWidth), Math.max(page.scrollHeight, innerHeight)];
  const box = one.getBoundingClientRect();
  return [box.x + scrollX, box.y + scrollY, box.width, box.height];
}"""
_VIEW = "() => [scrollX, scrollY, innerWidth, innerHeight]"

Box = tuple[float, float, float, float]


class Wire(Protocol):
    """The browser's own protocol, as far as it is spoken here."""

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]: ...

    def on(self, event: str, f: Callable[[Any], None]) -> None: ...


class Eyes:
    """Looks at the main frame of one page."""

    def __init__(self, session: Wire, frame: str) -> None:
        self._session = session
        self._frame = frame

    async def title(self) -> str:
        return cleaned(str(await self._ask(_TITLE) or "")).strip()

    async def look(
        self, form: Form, selector: str | None, attribute: str | None = None, most: int = MOST_TEXT
    ) -> dict[str, Json]:
        """What the elements hold: `found` of them, their `content`, and whether that was `truncated`."""
        want = {
            "form": form,
            "selector": selector,
            "attribute": attribute,
            "text": most,
            "items": _MOST_ITEMS,
            "cells": _MOST_CELLS,
            "item": _LONGEST_ITEM,
        }
        seen = cast("dict[str, Any]", await self._ask(_LOOK, want) or {})
        if seen.get("unfit"):
            raise _not_a_selector(selector)
        return {
            "found": int(seen.get("count", 0)),
            "content": _cleaned(seen.get("value", "")),
            "truncated": bool(seen.get("cutOff", False)),
        }

    async def place_of(self, selector: str | None, *, all_of_it: bool) -> Box | None:
        """Where an element, the page or what is in view of it lies: left, top, width, height."""
        if selector is None and not all_of_it:
            return cast("Box", tuple(cast("list[float]", await self._ask(_VIEW))))
        found = await self._ask(_PLACE, selector)
        return cast("Box", tuple(cast("list[float]", found))) if found else None

    async def _ask(self, function: str, *arguments: object) -> object:
        """What a function of ours says about the page. One that goes elsewhere meanwhile is looked at anew."""
        for _ in range(_LOOKS - 1):
            with suppress(Error):
                return await self._ask_once(function, *arguments)
        return await self._ask_once(function, *arguments)

    async def _ask_once(self, function: str, *arguments: object) -> object:
        world = await self._session.send(
            "Page.createIsolatedWorld", {"frameId": self._frame, "worldName": _WORLD}
        )
        given = ", ".join(json.dumps(argument) for argument in arguments)
        answer = await self._session.send(
            "Runtime.evaluate",
            {
                "expression": f"({function})({given})",
                "contextId": world["executionContextId"],
                "returnByValue": True,
                "timeout": _PATIENCE_MS,
            },
        )
        return answer.get("result", {}).get("value")


def shown_url(url: str) -> str:
    """An address as it may be kept and shown."""
    return cleaned(url)[:_LONGEST_URL]


def _cleaned(value: Any) -> Json:
    match value:
        case str():
            return cleaned(value)
        case list():
            return [_cleaned(item) for item in cast("list[Any]", value)]
        case dict():
            members = cast("dict[Any, Any]", value).items()
            return {cleaned(str(name)): _cleaned(item) for name, item in members}
        case _:
            return None


def _not_a_selector(selector: str | None) -> ConfigurationError:
    return ConfigurationError(
        f"{(selector or '')[:200]!r} is not a CSS selector.", "Write one such as #name, .class or a[href]."
    )
