"""The last rung: limits, and no walls. Only for whoever has asked for it, and it says so."""

from pathlib import Path

from belayer.sandbox.camp import Camp
from belayer.sandbox.landlock import launched
from belayer.sandbox.sandbox import Process, Program, Rung, check

_PROTECTS = (
    "environment: the variables of Belayer's own are not handed on",
    "processes: what a program starts ends with it, and with Belayer",
)
_DOES_NOT = (
    "confine anything: a program can read and write all that you can, and reach the whole network",
    "heed a list of hosts",
)


class Unconfined:
    """Runs programs with all the rights of Belayer's user."""

    def __init__(self, camp: Camp, home: Path | None) -> None:  # noqa: ARG002 - as all rungs are made
        self._camp = camp

    @property
    def rung(self) -> Rung:
        return self._camp.described("none", _PROTECTS, _DOES_NOT)

    async def start(self, program: Program) -> Process:
        check(program)
        return launched(self._camp, program, self._camp.temporary(), None)

    def close(self) -> None:
        """Nothing is kept ready."""
