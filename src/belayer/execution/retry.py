"""When to try again. Pure: it is told the attempt, the error and a bit of luck, and answers with a move."""

from dataclasses import dataclass

from belayer.vocabulary.errors import Category


@dataclass(frozen=True, slots=True)
class Again:
    """Try once more, after a while and after a preparation."""

    delay: float = 0.0
    refresh: bool = False
    reduce: bool = False


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How patient a step is."""

    retries: int = 3
    first_delay: float = 0.5
    longest_delay: float = 30.0

    def move_after(self, attempt: int, category: Category, luck: float) -> Again | None:
        """What to do after the given attempt failed, or None to give up. `luck` spreads delays: 0 up to 1."""
        match category:
            case Category.TRANSIENT if attempt <= self.retries:
                delay = min(self.first_delay * 2 ** (attempt - 1), self.longest_delay)
                return Again(delay=delay * (0.5 + luck / 2))
            case Category.PERMISSION if attempt == 1:
                return Again(refresh=True)
            case Category.RESOURCE if attempt == 1:
                return Again(delay=self.first_delay, reduce=True)
            case _:
                return None
