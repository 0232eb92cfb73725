"""Belayer: durable sessions for agent work with a person in the loop. *Agents climb; you hold the rope.*"""

from belayer.engine import Engine, Session
from belayer.execution.act import Act, DidNotHappen, Happened, act
from belayer.execution.approvals import Decision
from belayer.execution.run import Run
from belayer.execution.step import this_step
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
from belayer.vocabulary.events.event import Budget, Effect, Mode, Status
from belayer.wiring import open_engine

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
    "LogicError",
    "ManualClock",
    "Mode",
    "OutcomeUnknown",
    "RateLimited",
    "Refused",
    "ResourceShort",
    "Run",
    "Session",
    "SessionFailed",
    "Status",
    "StepFailed",
    "TransientError",
    "act",
    "open_engine",
    "this_step",
]
