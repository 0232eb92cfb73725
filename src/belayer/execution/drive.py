"""What all branches of one driven session share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from belayer.execution.act import Act
from belayer.execution.executor import Executor
from belayer.execution.journal import Journal
from belayer.execution.policy import Call, Reach, rule_on
from belayer.execution.recorder import Recorder
from belayer.execution.suspended import Halted
from belayer.vocabulary.events.event import Budget, Effect, Mode, Usage
from belayer.vocabulary.events.lifecycle import Begun
from belayer.vocabulary.ids import SessionId
from belayer.vocabulary.rules import Rule, Verdict


@dataclass(slots=True)
class Drive:
    """One session being driven. `stopped` is set by the runner when the session must begin nothing new."""

    session_id: SessionId
    begun: Begun
    journal: Journal
    recorder: Recorder
    executor: Executor
    usage: Usage
    policy: Sequence[Rule] = ()
    stopped: str | None = None
    halted: Halted | None = None
    limited: bool = field(init=False)

    def __post_init__(self) -> None:
        self.limited = self.begun.budget != Budget()

    def rules(self) -> list[Rule]:
        """What was said for this session comes before what is said for all."""
        return [*self.journal.remembered, *(self.begun.policy or ()), *self.policy]

    def permits(self, act: Act[..., Any], reach: Reach) -> bool:
        """Whether the rules let an act touch this without asking."""
        return rule_on(Call(act.name, act.effect, reach), self.rules()).verdict is Verdict.ALLOW

    def lets_load(self, act: Act[..., Any], host: str) -> bool:
        """Whether no rule about hosts stands against what an act loads from there on its way."""
        ruling = rule_on(Call(act.name, Effect.READ, Reach(hosts=(host,))), self.rules())
        names_host = ruling.rule is not None and ruling.rule.host is not None
        return ruling.verdict is Verdict.ALLOW or (ruling.verdict is Verdict.ASK and not names_host)

    @property
    def mode(self) -> Mode:
        return self.begun.mode

    def idempotency_key(self, path: str) -> str:
        """The same for every attempt at a step; another after a rewind, for then it is to happen anew."""
        return f"{self.session_id}:{self.journal.generation}:{path}"
