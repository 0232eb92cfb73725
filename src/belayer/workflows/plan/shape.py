"""What is wrong with a plan's shape, said in sentences instead of pydantic's."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError

from belayer.workflows.plan.places import Path, kind_of, quoted
from belayer.workflows.plan.plan import Fallback, Plan, PlanStep

_WANTED = {
    "string_type": "a text",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "dict_type": "an object",
    "model_type": "an object",
    "tuple_type": "a list",
}


def shape_problems(error: ValidationError, inside: Path = ()) -> Iterator[tuple[Path, str]]:
    """Every place that does not fit, and what is wrong with it. `inside` is where what was looked at stands."""
    for item in error.errors(include_url=False):
        path = (*inside, *item["loc"])
        if path[2:3] == ("when",):
            if path[-1] != "bool":  # pydantic tells of a text and of a boolean that it is not
                yield path[:3], _when_problem(item)
        elif path[:1] == ("inputs",) and path[-1:] == ("[key]",):
            yield path[:-1], "is no name: use a letter or _, then up to 63 letters, digits, _ or -"
        elif item["type"] == "missing":
            yield path[:-1], f"{quoted(str(path[-1]))} is missing"
        elif item["type"] == "extra_forbidden":
            yield path, f"there is no such member; there are: {', '.join(_model_at(path[:-1]).model_fields)}"
        else:
            yield path, _sentence(item)


def _sentence(item: Mapping[str, Any]) -> str:
    limits: Mapping[str, Any] = item.get("ctx", {})
    match item["type"]:
        case "string_pattern_mismatch":
            return (
                f"{quoted(item['input'])} is no id: use a letter or _, then up to 63 letters, digits, _ or -"
            )
        case "string_too_short":
            return "must not be empty"
        case "string_too_long":
            return f"must have at most {limits['max_length']:,} characters, not {len(item['input']):,}"
        case "too_short":
            return "must have at least one step"
        case "too_long":
            return f"must have at most {limits['max_length']:,} entries, not {limits['actual_length']:,}"
        case "greater_than":
            return f"must be more than {limits['gt']:g}"
        case "greater_than_equal":
            return f"must be at least {limits['ge']:g}"
        case "less_than_equal":
            return f"must be at most {limits['le']:,g}"
        case kind if kind in _WANTED:
            return f"must be {_WANTED[kind]}, not {kind_of(item['input'])}"
        case _:
            return item["msg"]


def _when_problem(item: Mapping[str, Any]) -> str:
    if item["type"] == "string_too_long":
        return _sentence(item)
    return f"must be a condition, true or false, not {kind_of(item['input'])}"


def _model_at(path: Path) -> type[BaseModel]:
    if path[-1:] == ("fallback",):
        return Fallback
    return PlanStep if path else Plan
