"""What a command's exit code says to a script."""

from enum import IntEnum

from belayer.vocabulary.errors import BelayerError, Refused
from belayer.vocabulary.events.event import Status


class Exit(IntEnum):
    """The codes of PROTOCOL.md; the last is the shell's own for Ctrl-C."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    WAITING = 3
    REFUSED = 4
    STOPPED = 130


def exit_for(status: Status) -> Exit:
    """How a command ends that went along with a session until it rested."""
    match status:
        case Status.COMPLETED:
            return Exit.DONE
        case Status.FAILED | Status.CANCELLED:
            return Exit.FAILED
        case _:
            return Exit.WAITING


def exit_after(error: BelayerError) -> Exit:
    return Exit.REFUSED if isinstance(error, Refused) else Exit.FAILED
