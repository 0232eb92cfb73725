"""Something a step does to the world, and what one must know to do it safely."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Generic, ParamSpec, TypeVar, cast, get_type_hints, overload

from pydantic import PydanticUserError, TypeAdapter, ValidationError

from belayer.execution.limits import Rate
from belayer.execution.policy import Reach
from belayer.vocabulary.errors import Unrecordable
from belayer.vocabulary.events.event import Effect, Json
from belayer.vocabulary.plain import encoded

P = ParamSpec("P")
T = TypeVar("T")

DEFAULT_TIMEOUT = 600.0
_FUNCTIONS_KNOWN = 1_000
_PLAIN = (Any, str, int, float, bool, type(None), None, dict, list, inspect.Signature.empty)


@dataclass(frozen=True, slots=True)
class Happened:
    """A probe found that the effect took place, with this output."""

    output: Any = None


@dataclass(frozen=True, slots=True)
class DidNotHappen:
    """A probe found that the effect did not take place; or a person said so."""

    by_probe: bool = True


Probed = Happened | DidNotHappen | None


@dataclass(frozen=True, slots=True)
class Guard:
    """What has to be known of a call before it may be made. The functions are given the act's own arguments."""

    reach: Callable[..., Reach]
    targets: Callable[..., Awaitable[dict[str, str | None]]] | None = None
    preview: Callable[..., Awaitable[Json]] | None = None
    rate: Rate | None = None
    at_once: int | None = None
    health: Callable[[], Awaitable[str | None]] | None = None
    patient: bool = True


@dataclass(frozen=True, slots=True)
class Act(Generic[P, T]):
    """A function with its manners. Undeclared, it is taken to change the world and to be unsafe to repeat.

    `foregone`: it only puts on record what has come about already, which says nothing about the next time.
    """

    name: str
    call: Callable[P, Awaitable[T]] | Callable[P, T]
    effect: Effect = Effect.EXTERNAL
    idempotent: bool = False
    timeout: float | None = DEFAULT_TIMEOUT
    retries: int | None = None
    probe: Callable[P, Awaitable[Probed]] | None = None
    refresh: Callable[[], Awaitable[None]] | None = None
    guard: Guard | None = None
    foregone: bool = False

    @property
    def repeatable(self) -> bool:
        """Whether doing it again does no harm."""
        return self.effect is Effect.READ or self.idempotent

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> T:
        if _is_async(_function(self.call)):
            return await cast("Callable[P, Awaitable[T]]", self.call)(*args, **kwargs)
        given = await asyncio.to_thread(self.call, *args, **kwargs)
        return await given if inspect.isawaitable(given) else cast("T", given)

    def check(self, value: Json) -> None:
        """Raise if what the log keeps of an output cannot be given back as what the act returns."""
        if _returns(_function(self.call)) is not None:
            self.output(value)

    def output(self, value: Json) -> T:
        """What the act returned, from what the log keeps of it."""
        return cast("T", _output(self.call, self.name, value))


@overload
def act(call: Callable[P, Awaitable[T]], /) -> Act[P, T]: ...
@overload
def act(call: Callable[P, T], /) -> Act[P, T]: ...
@overload
def act(
    *,
    name: str | None = None,
    effect: Effect | str = Effect.EXTERNAL,
    idempotent: bool = False,
    timeout: float | None = DEFAULT_TIMEOUT,
    retries: int | None = None,
    probe: Callable[..., Awaitable[Probed]] | None = None,
    refresh: Callable[[], Awaitable[None]] | None = None,
) -> "_Declare": ...
def act(call: Callable[..., Any] | None = None, /, **manners: Any) -> Any:
    """Declare a function's manners: `@act(effect="read")`, `@act(idempotent=True, timeout=30)`."""
    declare = _Declare(manners)
    return declare(call) if call is not None else declare


class _Declare:
    """The decorator that `act(…)` makes."""

    def __init__(self, manners: dict[str, Any]) -> None:
        self._manners = manners

    @overload
    def __call__(self, call: Callable[P, Awaitable[T]]) -> Act[P, T]: ...
    @overload
    def __call__(self, call: Callable[P, T]) -> Act[P, T]: ...
    def __call__(self, call: Callable[..., Any]) -> Any:
        manners = dict(self._manners)
        manners["name"] = manners.get("name") or getattr(call, "__name__", type(call).__name__)
        manners["effect"] = Effect(manners.get("effect", Effect.EXTERNAL))
        return Act(call=call, **manners)


def as_act(call: Callable[..., Any]) -> Act[..., Any]:
    """The act itself, or a plain function with the careful default manners."""
    return cast("Act[..., Any]", call) if isinstance(call, Act) else act(call)


def _function(call: Callable[..., Any]) -> Callable[..., Any]:
    """The function behind a bound one: what is known of it holds for every binding."""
    while isinstance(call, partial):
        call = cast("partial[Any]", call).func
    return getattr(call, "__func__", call)


@lru_cache(_FUNCTIONS_KNOWN)
def _is_async(call: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__)


@lru_cache(_FUNCTIONS_KNOWN)
def _returns(call: Callable[..., Any]) -> TypeAdapter[Any] | None:
    try:
        hint = get_type_hints(call).get("return", Any)
    except (NameError, TypeError):
        return None
    try:
        return None if hint in _PLAIN else TypeAdapter(hint)
    except PydanticUserError:  # not a type that pydantic can read: what JSON gives has to do
        return None


def _output(call: Callable[..., Any], name: str, value: Json) -> Any:
    adapter = _returns(_function(call))
    if adapter is None:
        return value
    try:
        return adapter.validate_json(encoded(value))
    except ValidationError as error:
        raise Unrecordable(
            f"What {name} returned does not come back from the log as the type it is annotated with: {error}",
            "Correct the return annotation, or return something JSON can hold.",
        ) from error
