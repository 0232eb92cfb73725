"""Tell a person what a session does while it does it: a picture that changes, plain lines, or nothing for scripts."""

from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from belayer.cli.live import LiveTeller
from belayer.cli.planned import is_part, titles_of
from belayer.cli.safe_text import safe_line
from belayer.cli.screen import Screen
from belayer.cli.story import opened, told
from belayer.sessions.feed import Frame
from belayer.sessions.state import SessionState


class Teller(Protocol):
    """Somebody who is told every frame of a session, in order."""

    def hear(self, state: SessionState, frame: Frame) -> None: ...

    def notice(self, text: str) -> None: ...


class PlainTeller:
    """Lines as things happen: for files, pipes and terminals that cannot draw."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def hear(self, state: SessionState, frame: Frame) -> None:
        envelope = opened(frame.wire)
        if envelope.type == "step" and is_part(state, str(envelope.data["key"])):
            return
        line = told(envelope, titles_of(state))
        if line is not None:
            self._screen.say(line)

    def notice(self, text: str) -> None:
        self._screen.warn(text)


class WireTeller:
    """The envelopes themselves, one per line."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def hear(self, state: SessionState, frame: Frame) -> None:  # noqa: ARG002 - the state is for those who fold nothing
        self._screen.out.file.write(frame.wire.decode() + "\n")
        self._screen.out.file.flush()

    def notice(self, text: str) -> None:
        self._screen.warn(text)


class SilentTeller:
    """Nothing: a script gets its one answer at the end."""

    def hear(self, state: SessionState, frame: Frame) -> None: ...

    def notice(self, text: str) -> None: ...


def telling(screen: Screen, state: SessionState, *, heading: bool) -> AbstractAsyncContextManager[Teller]:
    """Whoever tells best on this screen."""
    if screen.live:
        return LiveTeller(screen.out, state, heading=heading)
    if heading:
        screen.say(f"{safe_line(state.title)} · {state.id}")
    return _just(SilentTeller() if screen.as_json else PlainTeller(screen))


@asynccontextmanager
async def _just(teller: Teller) -> AsyncGenerator[Teller]:
    yield teller
