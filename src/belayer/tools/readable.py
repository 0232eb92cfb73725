"""What a reader sees of a web page: HTML on stdin, JSON {title, text} on stdout; with `--crude`, by the simplest means.

A program of its own, started by its path in a child with limits: parsers are where hostile pages do their harm. It
imports nothing of ours, which makes it start in half the time.
"""

import html
import json
import re
import sys

MOST_CHARACTERS = 500_000
_TITLE_CHARACTERS = 500
# Beyond this the careful way takes more time and memory than a page is worth.
_CAREFULLY = 1_000_000
_UNSEEN = frozenset({"noscript", "script", "style", "svg", "template", "title"})
_BREAKS = frozenset(
    {"article", "blockquote", "br", "dd", "div", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "hr"}
    | {"li", "ol", "p", "pre", "section", "table", "tr", "ul"}
)
# Possessive throughout: no page, however malformed, is looked at twice.
_TAG = re.compile(r"<!--|<(/?+)([a-zA-Z][a-zA-Z0-9]*+)[^<>]*+>")
_ENDS = {name: re.compile(rf"</{name}[^<>]*+>", re.IGNORECASE) for name in _UNSEEN} | {"": re.compile("-->")}
_TITLE = re.compile(r"<title[^<>]*+>([^<]*+)", re.IGNORECASE)
_SPACES = re.compile(r"[^\S\n]++")
_LINES = re.compile(r"\n{3,}+")


def main(*, crude: bool) -> None:
    page = sys.stdin.buffer.read().decode(errors="replace")
    seen = _seen(page)
    text = (None if crude or len(seen) > _CAREFULLY else _article(seen)) or _without_tags(seen)
    found = {"title": _title(page), "text": text[: MOST_CHARACTERS + 1]}
    sys.stdout.buffer.write(json.dumps(found, ensure_ascii=False).encode(errors="replace"))


def _title(page: str) -> str | None:
    title = _TITLE.search(page)
    return " ".join(html.unescape(title[1][:_TITLE_CHARACTERS]).split()) or None if title else None


def _seen(page: str) -> str:
    """The page without comments, scripts and other things that nobody reads."""
    pieces: list[str] = []
    at = after = 0
    while tag := _TAG.search(page, after):
        after = tag.end()
        name = (tag[2] or "").lower()
        if name and (tag[1] or name not in _UNSEEN):
            continue
        pieces.append(page[at : tag.start()])
        end = _ENDS[name].search(page, after)
        at = after = end.end() if end else len(page)
    return "".join([*pieces, page[at:]])


def _article(seen: str) -> str | None:
    """The text of the article, without menus and footers; None if there is none to be found."""
    import trafilatura  # noqa: PLC0415 - the crude way must work where this one does not

    try:
        return trafilatura.extract(seen, output_format="markdown", include_comments=False)
    except Exception:  # noqa: BLE001 - whatever a hostile page breaks in there, the crude way is left
        return None


def _without_tags(seen: str) -> str:
    text = html.unescape(_TAG.sub(lambda tag: "\n" if (tag[2] or "").lower() in _BREAKS else "", seen))
    lines = (line.strip() for line in _SPACES.sub(" ", text).splitlines())
    return _LINES.sub("\n\n", "\n".join(lines)).strip()


if __name__ == "__main__":
    main(crude="--crude" in sys.argv)
