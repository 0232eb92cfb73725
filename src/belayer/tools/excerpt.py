"""A long output as a reader can bear it: its beginning, its end, and how much is missing between them. Pure."""


class Excerpt:
    """Keeps the first and the last bytes of what it is given."""

    def __init__(self, head: int = 32_768, tail: int = 32_768) -> None:
        self._head_room = head
        self._tail_room = tail
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def add(self, text: str) -> None:
        content = text.encode(errors="replace")
        self._total += len(content)
        room = self._head_room - len(self._head)
        self._head += content[:room]
        self._tail += content[max(room, 0) :]
        if len(self._tail) > 2 * self._tail_room:
            del self._tail[: -self._tail_room]

    @property
    def left_out(self) -> int:
        """How many bytes are missing."""
        return self._total - len(self._head) - len(self._tail[-self._tail_room :])

    def text(self) -> str:
        head = self._head.decode(errors="replace")
        tail = self._tail[-self._tail_room :].decode(errors="replace")
        if self.left_out == 0:
            return (self._head + self._tail).decode(errors="replace")
        return f"{head}\n… {self.left_out:,} bytes left out …\n{tail}"
