"""What the MCP tools take, described for a model that has never seen Belayer. Strict: a wrong name is told."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError

from belayer.api.shapes import BudgetBody, Cursor, Digest, TheRequest, WholeId
from belayer.vocabulary.commands import Folder, Name, Text
from belayer.vocabulary.errors import UnfitInput
from belayer.vocabulary.events.event import Json, Mode, Shape, Status

LONGEST_WAIT = 60
_MOST_TOLD = 10

S = TypeVar("S", bound=Shape)

Prefix = Annotated[
    str, Field(min_length=1, max_length=100, description="The session's id, or a unique beginning of it.")
]
Asked = Annotated[
    TheRequest,
    Field(description="The request's id, from `pending` of the session."),
]
Wait = Annotated[
    float,
    Field(
        ge=0,
        le=LONGEST_WAIT,
        allow_inf_nan=False,
        description="How many seconds to wait until the session needs somebody or has ended; 0 returns at once."
        " The session goes on whatever you choose.",
    ),
]
Why = Annotated[Text | None, Field(description="Why, for the record.")]


class StartArguments(Shape):
    """A session: a plan with its inputs, or a workflow with its input."""

    plan: Annotated[
        dict[str, Json] | None,
        Field(
            description='The plan, as `{"title": "…", "steps": [{"id": "a", "tool": "files.read", "params": {…}}]}`.'
            " See this tool's description."
        ),
    ] = None
    inputs: Annotated[
        dict[str, Json] | None,
        Field(description="Values for the plan's `{{input.NAME}}`. Only with a plan."),
    ] = None
    workflow: Annotated[
        Name | None, Field(description="The name of a workflow that this server knows, instead of a plan.")
    ] = None
    input: Annotated[
        dict[str, Json] | None, Field(description="What the workflow takes. Only with a workflow.")
    ] = None
    mode: Annotated[
        Mode,
        Field(
            description="`hitl`: stops and asks a person when it needs one. `autonomous`: fails instead of asking."
        ),
    ] = Mode.HITL
    title: Annotated[Name | None, Field(description="What people see in lists.")] = None
    workspace: Annotated[
        Folder | None,
        Field(
            description="The folder that the session works in; without it, the session gets one of its own."
        ),
    ] = None
    budget: Annotated[
        BudgetBody, Field(description="What the session may use before it asks for more; null is no limit.")
    ] = BudgetBody()
    idempotency_key: Annotated[
        Name | None,
        Field(description="The same key gives the same session: use one if you may have to call again."),
    ] = None
    wait_seconds: Wait = 10


class StatusArguments(Shape):
    """A session to look at."""

    session_id: Prefix
    last_events: Annotated[int, Field(ge=0, le=100, description="How many of its last events to show.")] = 10
    wait_seconds: Wait = 0


class EventsArguments(Shape):
    """A place in a session's log."""

    session_id: Prefix
    after: Annotated[
        Cursor, Field(description="The `seq` of the last event that you have; 0 for all of them.")
    ] = 0
    limit: Annotated[int, Field(ge=1, le=500)] = 50


class ListArguments(Shape):
    """Which sessions to list."""

    status: Annotated[
        tuple[Status, ...], Field(max_length=len(Status), description="Only these; empty for all.")
    ] = ()
    mode: Mode | None = None
    workflow: Annotated[Name | None, Field(description="`plan` for plans.")] = None
    text: Annotated[Name | None, Field(description="Text in the title.")] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    cursor: Annotated[WholeId | None, Field(description="`next` of the page before, for older sessions.")] = (
        None
    )


class AnswerArguments(Shape):
    """An answer to a question."""

    session_id: Prefix
    request_id: Asked
    value: Annotated[
        Json,
        Field(
            description="What the person said. By the question's `kind`: text and file: a text; confirm: true or false;"
            " choice: one of `choices`; form: an object. Leave it out to have the person asked through your client."
        ),
    ] = None
    wait_seconds: Wait = 10


class ApproveArguments(Shape):
    """A person's decision on exactly what a request shows."""

    session_id: Prefix
    request_id: Asked
    digest: Annotated[
        Digest, Field(description="The request's `digest`: proves that it is about what the person saw.")
    ]
    approved: Annotated[bool, Field(description="What the person decided: true to go on, false to refuse.")]
    notes: Annotated[Text | None, Field(description="What the person said about it.")] = None
    remember: Annotated[
        Literal["session"] | None,
        Field(
            description="`session` if the person wants the same kind of call allowed until the session ends."
        ),
    ] = None
    wait_seconds: Wait = 10


class StopArguments(Shape):
    """A session to stop."""

    session_id: Prefix
    reason: Why = None


class ResumeArguments(Shape):
    """A session to go on with."""

    session_id: Prefix
    reason: Why = None
    wait_seconds: Wait = 10


def read(takes: type[S], given: Mapping[str, Any], name: str) -> S:
    """The arguments of the named tool in their types; UnfitInput says what is wrong, but not what was given."""
    try:
        return takes.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        wrong = [f"{'.'.join(map(str, item['loc']))[:100] or 'arguments'}: {item['msg']}" for item in found]
        raise UnfitInput(
            f"The arguments do not fit {name}: {'; '.join(wrong[:_MOST_TOLD])}.",
            "Correct these, then call again.",
        ) from error
