"""The one tree of errors. A class says what happened; its category says what happens next (execution/failures.py)."""

from collections.abc import Sequence
from enum import StrEnum
from typing import ClassVar, NamedTuple, Self

from pydantic import BaseModel, ConfigDict

_MOST_PROBLEMS = 50


class Category(StrEnum):
    """What kind of trouble it is, and so who can mend it."""

    TRANSIENT = "transient"
    CONFIGURATION = "configuration"
    PERMISSION = "permission"
    RESOURCE = "resource"
    LOGIC = "logic"


class Problem(BaseModel):
    """An error as it stands in events and on the wire (RFC 9457, with `category` and `hint`)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    category: Category
    detail: str
    hint: str | None = None


class BelayerError(Exception):
    """Anything that goes wrong here. `detail` says what happened and what it means, `hint` what to do."""

    category: ClassVar[Category] = Category.LOGIC

    def __init__(self, detail: str, hint: str | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.hint = hint

    def problem(self) -> Problem:
        return Problem(kind=type(self).__name__, category=self.category, detail=self.detail, hint=self.hint)


class TransientError(BelayerError):
    """It may work the next time: raise it from an act that did nothing and may be tried again."""

    category = Category.TRANSIENT


class ConfigurationError(BelayerError):
    """A setting or parameter has to be corrected first."""

    category = Category.CONFIGURATION


class AccessDenied(BelayerError):
    """A credential is missing, wrong or stale."""

    category = Category.PERMISSION


class ResourceShort(BelayerError):
    """Memory, disk, quota or time ran out; less may fit."""

    category = Category.RESOURCE


class LogicError(BelayerError):
    """What was asked makes no sense as it stands."""


class RateLimited(TransientError):
    """The other side asks us to slow down."""


class StepTimedOut(TransientError):
    """An act took longer than it may."""


class CircuitOpen(TransientError):
    """An act failed so often lately that it is left alone for a while."""


class OutcomeUnknown(LogicError):
    """An act with effects ended in a way that does not tell whether the effect happened."""


class InDoubt(LogicError):
    """A step had begun, has no recorded outcome, and nobody is there to say what happened."""


class StepFailed(BelayerError):
    """A step's recorded failure: raised the same way on the first run and on every replay."""

    def __init__(self, key: str, problem: Problem) -> None:
        super().__init__(problem.detail, problem.hint)
        self.key = key
        self.cause = problem

    def problem(self) -> Problem:
        return self.cause


class NeedsPerson(LogicError):
    """An autonomous session came to a place where only a person can decide."""


class BudgetExhausted(BelayerError):
    """A session used up what it was given."""

    category = Category.RESOURCE


class ReplayMismatch(LogicError):
    """The log has another step under a key than the code asks for."""


class Unrecordable(LogicError):
    """A value cannot be kept as JSON."""


class NotReady(ConfigurationError):
    """What a session needs is not here now: it holds until it is."""


class UnknownWorkflow(NotReady):
    """A session's workflow is not among those this engine knows."""


class UnknownTool(NotReady):
    """No tool has this name here."""


class PolicyDenied(ConfigurationError):
    """A rule forbids this call."""


class Rejected(LogicError):
    """A person said no to this call."""


class PlanFailed(BelayerError):
    """A plan could not be carried through."""

    def __init__(self, detail: str, hint: str | None, category: Category) -> None:
        super().__init__(detail, hint)
        self._category = category

    def problem(self) -> Problem:
        return Problem(kind="PlanFailed", category=self._category, detail=self.detail, hint=self.hint)


class AddressBlocked(ConfigurationError):
    """A call would reach an address inside the house."""


class HoldsSecret(ConfigurationError):
    """What a call would send holds a secret."""


class NoSandbox(ConfigurationError):
    """Programs cannot be confined here in the way that is asked for."""


class LimitReached(ResourceShort):
    """A program went beyond what it may use."""

    def __init__(self, limit: str, detail: str, hint: str | None = None) -> None:
        super().__init__(detail, hint)
        self.limit = limit


class CommandStopped(LimitReached):
    """A command that may have had effects went beyond what it may use, so it is not tried again by itself."""

    category = Category.LOGIC


class ChildFailed(LogicError):
    """A program that was started for a step ended with an error."""


class CommandFailed(ChildFailed):
    """A command that somebody asked for did not end well; its words are for whoever asked."""


class ScriptFailed(LogicError):
    """A script failed, in this line if that is known, having printed this."""

    def __init__(
        self, detail: str, hint: str | None = None, line: int | None = None, output: Sequence[str] = ()
    ) -> None:
        super().__init__(detail, hint)
        self.line = line
        self.output = tuple(output)


class FetchFailed(ConfigurationError):
    """A repository could not be fetched from where it is said to be."""


class RepositoryMoved(FetchFailed):
    """A repository's host sends us on to another address."""


class OutsideWorkspace(LogicError):
    """A path leads out of the workspace."""


class ProtectedPath(LogicError):
    """A path that nothing may write: a repository's own files, or Belayer's."""


class NotAFile(LogicError):
    """A path that is no regular file."""


class PathMissing(ConfigurationError):
    """There is nothing at this path."""


class PathExists(LogicError):
    """Something is at this path already."""


class TooLarge(ResourceShort):
    """More than may be read at once."""


class DiskShort(ResourceShort):
    """The disk has no room for this."""


class WorkspaceMissing(NotReady):
    """The folder that a session works in is not there."""


class GraphMissing(NotReady):
    """There is no graph of this repository yet."""


class SessionFailed(BelayerError):
    """A session ended without a result."""

    def __init__(self, session_id: str, problem: Problem) -> None:
        super().__init__(problem.detail, problem.hint)
        self.session_id = session_id
        self.cause = problem

    def problem(self) -> Problem:
        return self.cause


class Refused(BelayerError):
    """A command that the state of things does not allow; nothing was changed."""


class UnknownSession(Refused):
    """No session has this id."""


class UnknownArtifact(Refused):
    """The session has made nothing of this name."""


class UnknownRepository(Refused):
    """There is no graph of such a repository."""


class AmbiguousPrefix(Refused):
    """Several sessions' ids begin like this."""


class UnknownRequest(Refused):
    """The session has no such request."""


class AlreadyDecided(Refused):
    """The request has its answer already."""


class DigestChanged(Refused):
    """The approval names something else than what is to be approved now."""


class UnfitAnswer(Refused):
    """The answer is not of the kind that was asked for."""


class UnfitInput(Refused):
    """The input is not what the workflow takes."""

    category = Category.CONFIGURATION


class PlanProblem(NamedTuple):
    """One thing that is wrong with a plan, and where."""

    place: str
    what: str


class UnfitRepository(UnfitInput):
    """An address that no repository may be fetched from."""


class UnfitPlan(UnfitInput):
    """A plan that cannot be carried out as it stands; every problem it has."""

    def __init__(self, problems: Sequence[PlanProblem]) -> None:
        self.problems = tuple(problems)
        shown = [f"{place}: {what}" for place, what in self.problems[:_MOST_PROBLEMS]]
        if len(self.problems) > _MOST_PROBLEMS:
            shown.append(f"… and {len(self.problems) - _MOST_PROBLEMS} more")
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__(
            f"The plan has {count}; nothing was run.\n  " + "\n  ".join(shown),
            "Correct these, then try again.",
        )


class UnknownSymbol(Refused):
    """Nothing in the graph has this name; `suggestions` are ids of things with names like it."""

    def __init__(self, detail: str, hint: str | None = None, suggestions: Sequence[str] = ()) -> None:
        super().__init__(detail, hint)
        self.suggestions = tuple(suggestions)


class AmbiguousSymbol(Refused):
    """Several things in the graph have this name; `suggestions` are their ids."""

    def __init__(self, detail: str, hint: str | None = None, suggestions: Sequence[str] = ()) -> None:
        super().__init__(detail, hint)
        self.suggestions = tuple(suggestions)


class WorkspaceMoved(Refused):
    """The workspace's repository is at another commit than when its files were kept."""


class IllegalTransition(Refused):
    """The session's status does not allow this."""


class KeyReused(Refused):
    """An idempotency key came back with another request."""


class TooManySessions(Refused):
    """As many sessions are live as may be."""

    category = Category.RESOURCE

    def __init__(self, detail: str, hint: str | None = None, retry_after: int = 10) -> None:
        super().__init__(detail, hint)
        self.retry_after = retry_after


class BadCursor(Refused):
    """A sequence number that the session does not have."""


class Unimportable(Refused):
    """A file that is no session export, or not one that can be taken in."""


class StoreError(BelayerError):
    """The store cannot do what it should."""


class StoreFull(StoreError):
    """No space is left."""

    category = Category.RESOURCE


class StoreBusy(StoreError):
    """Another process holds the store for too long."""

    category = Category.TRANSIENT


class StoreReadOnly(StoreError):
    """The store cannot be written."""

    category = Category.CONFIGURATION


class StoreBroken(StoreError):
    """The disk failed in the middle of a commit, so the store accepts nothing more until it is opened anew."""

    category = Category.RESOURCE


class NewerStore(StoreError):
    """The store was written by a newer Belayer."""

    category = Category.CONFIGURATION


class NewerEvent(StoreError):
    """An event was written by a newer Belayer."""

    category = Category.CONFIGURATION


class CorruptSnapshot(StoreError):
    """A kept state of a workspace is damaged or gone."""


class CorruptGraph(StoreError):
    """A stored graph is damaged."""


class CorruptLog(StoreError):
    """A session's log is not what was written."""

    def __init__(self, session_id: str, seq: int, what: str) -> None:
        super().__init__(
            f"The log of session {session_id} is damaged at seq {seq}: {what}."
            " The session cannot go on; others are not affected.",
            f"Save what is intact with `belayer export {session_id}`, or restore the store from a backup.",
        )
        self.session_id = session_id
        self.seq = seq
        self.what = what


class EngineClosed(BelayerError):
    """Somebody holds on to an engine that is gone."""


class Fenced(BelayerError):
    """Somebody else drives this session now; whatever the old driver still does is not recorded."""

    @classmethod
    def by(cls, session_id: str, mine: int, current: int) -> Self:
        return cls(f"Session {session_id} was taken over (epoch {current}, this driver has {mine}).")


class NotRunning(BelayerError):
    """The session was paused, interrupted or ended, so its driver may begin nothing new."""


class Moved(BelayerError):
    """Somebody appended in the meantime; look again and decide anew."""
