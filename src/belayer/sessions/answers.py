"""Whether an answer is of the kind that was asked for. Pure."""

from typing import cast

from belayer.vocabulary.errors import UnfitAnswer
from belayer.vocabulary.events.event import Json
from belayer.vocabulary.events.people import InputRequested

_JSON_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def check_answer(request: InputRequested, value: Json) -> None:
    """Raise UnfitAnswer, saying what would fit, unless the value answers the request."""
    match request.kind:
        case "text" | "file":
            fits = isinstance(value, str)
            wanted = "a text" if request.kind == "text" else "the name of a file"
        case "confirm":
            fits = isinstance(value, bool)
            wanted = "yes or no (true or false)"
        case "choice":
            fits = _chosen(value) in request.choices
            wanted = "one of: " + ", ".join(request.choices)
        case "form":
            fits = isinstance(value, dict)
            wanted = "an object with the fields of the form"
    if not fits:
        raise UnfitAnswer(f"This does not answer the question {request.prompt!r}.", f"Answer with {wanted}.")
    if request.purpose == "failure" and _chosen(value) == "edit":
        _check_edit(value)
    if request.kind == "form":
        _check_form(request, cast("dict[str, Json]", value))


def _chosen(value: Json) -> Json:
    """A choice may come with more to say: {"choice": …, …}."""
    return value.get("choice") if isinstance(value, dict) else value


def _check_edit(value: Json) -> None:
    if not isinstance(value, dict) or not isinstance(value.get("params"), dict):
        raise UnfitAnswer(
            "To edit the parameters, say what they should be.",
            'Answer with {"choice": "edit", "params": {…}}, the parameters in full.',
        )


def _check_form(request: InputRequested, value: dict[str, Json]) -> None:
    """A form is whatever its workflow's author wrote: what is no proper schema is not checked."""
    schema = request.form or {}
    given = schema.get("properties")
    properties = {
        name: field if isinstance(field, dict) else {}
        for name, field in (given if isinstance(given, dict) else {}).items()
    }
    wanted = schema.get("required")
    required = [name for name in (wanted if isinstance(wanted, list) else []) if isinstance(name, str)]
    problems = [f"{name} is missing" for name in required if name not in value]
    problems += [f"{name} is not in the form" for name in value if properties and name not in properties]
    problems += [
        f"{name} must be of type {properties[name]['type']}"
        for name, given in value.items()
        if name in properties and not _is_type(given, properties[name].get("type"))
    ]
    if problems:
        raise UnfitAnswer(
            "The form is not filled in correctly: " + "; ".join(problems) + ".", "Correct these fields."
        )


def _is_type(value: Json, wanted: Json) -> bool:
    if not isinstance(wanted, str) or wanted not in _JSON_TYPES:
        return True
    if isinstance(value, bool) and wanted != "boolean":
        return False
    return isinstance(value, _JSON_TYPES[wanted])
