"""Bytes of a stream cut into lines as they come; a line without an end is cut into pieces. Pure.

Nobody reads a hundred thousand lines one by one, but making them would hold up every other session: from there on,
those that came together stay together.
"""

from belayer.sandbox.sandbox import Line, Stream

LONGEST = 65536
MOST_SINGLY = 100_000


class Cutter:
    """Cuts one stream. What it keeps back is never longer than a piece."""

    def __init__(self, stream: Stream, longest: int = LONGEST, singly: int = MOST_SINGLY) -> None:
        self._stream: Stream = stream
        self._longest = longest
        self._singly = singly
        self._rest = b""

    def cut(self, chunk: bytes) -> list[Line]:
        """The lines that this chunk completes."""
        whole, newline, self._rest = (self._rest + chunk).rpartition(b"\n")
        lines = self._lines(whole) if newline else []
        while len(self._rest) > self._longest:
            piece, self._rest = self._split(self._rest)
            lines.append(self._line(piece, ends=False))
        return lines

    def end(self) -> list[Line]:
        """What is left when no more comes."""
        rest, self._rest = self._rest, b""
        return [self._line(rest, ends=False)] if rest else []

    def _lines(self, whole: bytes) -> list[Line]:
        if self._singly <= 0:
            return self._pieces(whole)
        lines = self._one_by_one(whole)
        self._singly -= len(lines)
        return lines

    def _one_by_one(self, whole: bytes) -> list[Line]:
        if len(whole) <= self._longest:  # so no line of it is too long, and there may be very many
            return [Line(self._stream, text) for text in whole.decode(errors="replace").split("\n")]
        return [line for text in whole.split(b"\n") for line in self._pieces(text)]

    def _pieces(self, text: bytes) -> list[Line]:
        lines: list[Line] = []
        while len(text) > self._longest:
            piece, text = self._split(text)
            lines.append(self._line(piece, ends=False))
        return [*lines, self._line(text, ends=True)]

    def _split(self, text: bytes) -> tuple[bytes, bytes]:
        """Not within a character, if that can be helped."""
        at = self._longest
        while at > self._longest - 3 and text[at] & 0xC0 == 0x80:
            at -= 1
        return text[:at], text[at:]

    def _line(self, text: bytes, *, ends: bool) -> Line:
        return Line(self._stream, text.decode(errors="replace"), ends)
