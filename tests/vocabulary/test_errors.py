"""Every error says what kind of trouble it is, and can be kept in an event."""

import inspect
from typing import Any

import pytest

from belayer.sessions.feed import TooSlow
from belayer.vocabulary import errors
from belayer.vocabulary.errors import (
    BelayerError,
    Category,
    CorruptLog,
    Fenced,
    PlanFailed,
    PlanProblem,
    Problem,
    Refused,
    SessionFailed,
    StepFailed,
    StoreError,
    StoreFull,
    TooManySessions,
    UnfitPlan,
)
from belayer.vocabulary.events.lifecycle import ErrorMet

CLASSES = [cls for _, cls in inspect.getmembers(errors, inspect.isclass) if issubclass(cls, BelayerError)]
PROBLEM = Problem(kind="RateLimited", category=Category.TRANSIENT, detail="slow down", hint="wait")


def make(cls: Any) -> BelayerError:
    if cls is CorruptLog:
        return CorruptLog("session", 3, "it is broken")
    if cls in (StepFailed, SessionFailed):
        return cls("name", PROBLEM)
    if cls is UnfitPlan:
        return UnfitPlan([PlanProblem("steps[0]", "it does nothing")])
    if cls is PlanFailed:
        return PlanFailed("what happened", "what to do", Category.PERMISSION)
    return cls("what happened", "what to do")


@pytest.mark.parametrize("cls", CLASSES)
def test_every_error_has_one_of_the_five_categories(cls: Any) -> None:
    assert make(cls).category in set(Category)


@pytest.mark.parametrize("cls", CLASSES)
def test_every_error_has_a_problem_that_can_stand_in_an_event(cls: Any) -> None:
    problem = make(cls).problem()
    assert ErrorMet(problem=problem).problem == problem


@pytest.mark.parametrize("cls", [cls for cls in CLASSES if cls not in (StepFailed, SessionFailed)])
def test_a_problem_is_named_after_its_class(cls: Any) -> None:
    assert make(cls).problem().kind == cls.__name__


@pytest.mark.parametrize("cls", CLASSES)
def test_the_text_of_an_error_is_its_detail(cls: Any) -> None:
    error = make(cls)
    assert str(error) == error.detail


@pytest.mark.parametrize("cls", CLASSES)
def test_every_error_says_in_a_sentence_what_it_means(cls: Any) -> None:
    assert (cls.__doc__ or "").strip().endswith(".")


@pytest.mark.parametrize("cls", [StepFailed, SessionFailed])
def test_a_recorded_failure_is_the_problem_that_was_recorded(cls: Any) -> None:
    assert make(cls).problem() is PROBLEM


def test_damage_names_the_session_and_the_seq() -> None:
    error = CorruptLog("abc", 3, "it is broken")
    assert (error.session_id, error.seq, error.what) == ("abc", 3, "it is broken")
    assert "abc is damaged at seq 3: it is broken" in error.detail


def test_a_fenced_driver_is_told_both_epochs() -> None:
    assert "epoch 5, this driver has 3" in Fenced.by("s", 3, 5).detail


def test_a_follower_who_is_too_slow_may_come_back() -> None:
    assert TooSlow("x").category is Category.TRANSIENT


def test_a_full_store_is_a_matter_of_resources() -> None:
    assert (StoreFull("x").category, isinstance(StoreFull("x"), StoreError)) == (Category.RESOURCE, True)


@pytest.mark.parametrize(
    "cls", [cls for cls in CLASSES if issubclass(cls, Refused) and cls is not TooManySessions]
)
def test_a_refusal_is_never_something_to_try_again_as_it_is(cls: Any) -> None:
    assert cls.category in (Category.LOGIC, Category.CONFIGURATION)
