"""When to try again. Pure: it is told what failed, how often, and a bit of luck, and answers with a move."""

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

    def move_after(self, times: int, category: Category, luck: float) -> Again | None:
        """What to do after a step failed in this way for the given time, or None to give up.

        `luck`, from 0 up to 1, spreads the delays of many who fail together.
        """
        match category:
            case Category.TRANSIENT if times <= self.retries:
                delay = min(self.first_delay * 2 ** (times - 1), self.longest_delay)
                return Again(delay=delay * (0.5 + luck / 2))
            case Category.PERMISSION if times == 1:
                return Again(refresh=True)
            case Category.RESOURCE if times == 1:
                return Again(delay=self.first_delay, reduce=True)
            case _:
                return None
