"""Ask a person: a text, a choice, a yes or no, a form, a file of the workspace. Waiting costs nothing."""

from typing import Annotated, Self

from pydantic import Field, model_validator

from belayer.execution.run import Run
from belayer.tools.tool import Params, Tool
from belayer.vocabulary.events.event import Effect, Json
from belayer.vocabulary.events.people import Kind


class Question(Params):
    prompt: Annotated[str, Field(min_length=1, max_length=10_000)]
    kind: Kind = "text"
    choices: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=1_000)], ...], Field(max_length=100)
    ] = ()
    form: Annotated[dict[str, Json] | None, Field(description="A JSON Schema of an object.")] = None

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if (self.kind == "choice") != bool(self.choices):
            raise ValueError("choices belong to the kind `choice`, and it needs at least one")
        if (self.kind == "form") != (self.form is not None):
            raise ValueError("a form belongs to the kind `form`, and it needs one")
        return self


async def ask(params: Question, run: Run) -> Json:
    answer: Json = await run.ask(
        "question", params.prompt, kind=params.kind, choices=params.choices, form=params.form
    )
    return {"answer": answer}


REQUEST_INPUT = Tool(
    "request_input",
    "Ask a person and go on with the answer, whenever it comes.",
    Question,
    conduct=ask,
    effect=Effect.READ,
    estimate=lambda _params: 0.0,  # a person takes no time of the plan's
)
