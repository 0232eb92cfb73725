"""What a foreign exception means to us, and whether it leaves open what happened. Never looks at an error's text."""

import errno

from belayer.execution.act import Act
from belayer.vocabulary.errors import (
    AccessDenied,
    BelayerError,
    Category,
    ConfigurationError,
    LogicError,
    OutcomeUnknown,
    ResourceShort,
    StepTimedOut,
    TransientError,
)

_PROGRAMMING_ERRORS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
_SHORT_OF = {errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE, errno.ENOMEM}


def understood(error: Exception, name: str) -> BelayerError:
    """Our own error for whatever an act raised."""
    if isinstance(error, BelayerError):
        return error
    return _meaning(error)(f"{name} failed: {type(error).__name__}: {error}", _ADVICE[_meaning(error)])


def leaves_doubt(act: Act[..., object], error: Exception) -> bool:
    """Whether an act that must not be repeated may have had its effect although it failed.

    An act that raises one of our errors says by it that nothing happened; OutcomeUnknown says the opposite.
    A connection that was refused never carried anything, and a plain programming error is what it says. Anything
    else that breaks off half-way, also an exception of a library we do not know, leaves doubt.
    """
    if act.repeatable:
        return False
    if isinstance(error, BelayerError):
        return isinstance(error, StepTimedOut | OutcomeUnknown)
    if isinstance(error, ConnectionRefusedError | PermissionError):
        return False
    if _meaning(error).category in (Category.TRANSIENT, Category.RESOURCE):
        return True
    return type(error).__module__ != "builtins" and not isinstance(error, _PROGRAMMING_ERRORS)


def _meaning(error: Exception) -> type[BelayerError]:
    match error:
        case PermissionError():
            return AccessDenied
        case FileNotFoundError() | ImportError() | NotADirectoryError():
            return ConfigurationError
        case OSError() if error.errno in _SHORT_OF:
            return ResourceShort
        case MemoryError() | RecursionError():
            return ResourceShort
        case OSError() | EOFError():
            return TransientError
        case _:
            return LogicError


_ADVICE: dict[type[BelayerError], str] = {
    AccessDenied: "Check the credentials and permissions it uses.",
    ConfigurationError: "Check that what it names exists and is spelled correctly.",
    ResourceShort: "Free memory or disk, or ask for less at once.",
    TransientError: "It was tried again and still failed; try later, or check the other side.",
    LogicError: "This is an error in the act or its parameters; correct it, then rewind or start anew.",
}
