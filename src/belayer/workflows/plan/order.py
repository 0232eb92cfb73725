"""In which order steps can be taken, and where they wait for each other in a circle. Pure."""

import heapq
from collections.abc import Mapping, Set

_MOST_CIRCLES = 10


def arrange(after: Mapping[str, Set[str]]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The steps in order, as listed unless they have to wait; and the circles, each step before one it waits for."""
    sorting = _Sorting(after)
    circles: list[tuple[str, ...]] = []
    sorting.run()
    while sorting.waiting and len(circles) < _MOST_CIRCLES:
        circles.append(sorting.circle())
        sorting.release(circles[-1])
        sorting.run()
    return tuple(sorting.order), circles


class _Sorting:
    """Takes the first listed step that waits for nothing any more, again and again."""

    def __init__(self, after: Mapping[str, Set[str]]) -> None:
        self._after = after
        self._rank = {step: rank for rank, step in enumerate(after)}
        self._open = {step: len(needs) for step, needs in after.items()}
        self._followers: dict[str, list[str]] = {step: [] for step in after}
        for step, needs in after.items():
            for need in needs:
                self._followers[need].append(step)
        self.waiting = dict.fromkeys(after)
        self._ready = [(self._rank[step], step) for step in after if not after[step]]
        self.order: list[str] = []

    def run(self) -> None:
        while self._ready:
            _, step = heapq.heappop(self._ready)
            self.order.append(step)
            self.release((step,))

    def circle(self) -> tuple[str, ...]:
        """Whoever still waits, waits for somebody who waits: follow until one comes up again."""
        seen: dict[str, None] = {}
        step = next(iter(self.waiting))
        while step not in seen:
            seen[step] = None
            step = min(self._after[step] & self.waiting.keys(), key=self._rank.__getitem__)
        path = list(seen)
        return tuple(path[path.index(step) :])

    def release(self, steps: tuple[str, ...]) -> None:
        """Nobody waits for these steps any more: they are taken, or in a circle that has been found."""
        for step in steps:
            self.waiting.pop(step)
        for step in steps:
            for follower in self._followers[step]:
                self._open[follower] -= 1
                if not self._open[follower] and follower in self.waiting:
                    heapq.heappush(self._ready, (self._rank[follower], follower))
