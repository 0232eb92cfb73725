"""Belayer: durable sessions for agent work with a person in the loop. *Agents climb; you hold the rope.*"""

from belayer.engine import Engine, Session
from belayer.execution.act import Act, DidNotHappen, Happened, act
from belayer.execution.approvals import Decision
from belayer.execution.limits import Rate
from belayer.execution.policy import Reach
from belayer.execution.run import Run
from belayer.execution.step import this_step
from belayer.tools.tool import Params, Tool
from belayer.vocabulary.clock import ManualClock
from belayer.vocabulary.errors import (
    AccessDenied,
    BelayerError,
    ConfigurationError,
    LogicError,
    OutcomeUnknown,
    RateLimited,
    Refused,
    ResourceShort,
    SessionFailed,
    StepFailed,
    TransientError,
)
from belayer.vocabulary.events.event import Budget, Effect, Json, Mode, Status
from belayer.vocabulary.rules import Risk, Rule, Verdict
from belayer.wiring import open_engine
from belayer.workspace.workspace import Workspace

__all__ = [
    "AccessDenied",
    "Act",
    "BelayerError",
    "Budget",
    "ConfigurationError",
    "Decision",
    "DidNotHappen",
    "Effect",
    "Engine",
    "Happened",
    "Json",
    "LogicError",
    "ManualClock",
    "Mode",
    "OutcomeUnknown",
    "Params",
    "Rate",
    "RateLimited",
    "Reach",
    "Refused",
    "ResourceShort",
    "Risk",
    "Rule",
    "Run",
    "Session",
    "SessionFailed",
    "Status",
    "StepFailed",
    "Tool",
    "TransientError",
    "Verdict",
    "Workspace",
    "act",
    "open_engine",
    "this_step",
]
