"""Bytes from a stranger as text that can be kept and shown. Pure."""

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
# No other: some codecs of Python take quadratic time, and some are no text encodings at all.
_KNOWN = re.compile(
    r"utf-?8|utf-?16(le|be)?|us-ascii|latin-?1|iso-8859-\d{1,2}|windows-125\d|koi8-[ru]|macintosh"
    r"|gb2312|gbk|gb18030|big5|shift[_-]jis|euc-(jp|kr)|iso-2022-jp",
    re.IGNORECASE,
)
# HTML says it within its first kilobyte, if at all.
_DECLARED = re.compile(rb"<meta[^<>]{0,200}?charset\s*=\s*[\"']?\s*([\w-]{1,20})", re.IGNORECASE)
_DECLARED_WITHIN = 1024
# Control characters but tab and newline, surrogates, and what turns text around or hides in it (bidi, tags).
_UNFIT = re.compile(
    r"[\0-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e01ef]"
)


def decoded(body: bytes, charset: str | None) -> str:
    """The text: by its own mark, else as its server says, else as UTF-8 with what does not fit replaced."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace")
    try:
        return body.decode(charset if charset and _KNOWN.fullmatch(charset) else "utf-8", "replace")
    except LookupError:
        return body.decode(errors="replace")


def declared_charset(page: bytes) -> str | None:
    """The charset that an HTML page names in its head."""
    found = _DECLARED.search(page[:_DECLARED_WITHIN])
    return found[1].decode("ascii", "replace") if found else None


def cleaned(text: str) -> str:
    """The text without what is not meant to be read."""
    return _UNFIT.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
