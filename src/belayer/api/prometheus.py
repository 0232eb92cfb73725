"""A reading as Prometheus wants it: made anew for every scrape, in a registry of its own, with fixed sets of labels."""

from collections.abc import Iterable, Iterator
from importlib.metadata import version

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from belayer.execution.breaker import BreakerState
from belayer.runner.vitals import Reading
from belayer.vocabulary.events.event import Status

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


def exposition(reading: Reading, concurrency: int) -> bytes:
    """The page that a scrape gets."""
    registry = CollectorRegistry()
    registry.register(_Collected(reading, concurrency))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


class _Collected(Collector):
    """A reading, one metric after the other."""

    def __init__(self, reading: Reading, concurrency: int) -> None:
        self._reading = reading
        self._concurrency = concurrency

    def collect(self) -> Iterator[Metric]:
        yield from self._sessions()
        yield from self._store()
        yield from self._calls()
        yield self._seconds()
        yield self._breakers()

    def _sessions(self) -> Iterator[Metric]:
        counts = self._reading.counts
        sessions = GaugeMetricFamily("belayer_sessions", "Sessions by status.", labels=["status"])
        for status in Status:
            sessions.add_metric([status.value], counts.by_status.get(status, 0))
        yield sessions
        yield GaugeMetricFamily(
            "belayer_sessions_for_a_person",
            "Sessions that wait for a person and for no set time.",
            counts.for_a_person,
        )
        yield GaugeMetricFamily(
            "belayer_concurrency", "Sessions that this process runs at once at most.", self._concurrency
        )
        build = GaugeMetricFamily("belayer_build", "Always 1; the version is a label.", labels=["version"])
        build.add_metric([version("belayer")], 1)
        yield build

    def _store(self) -> Iterator[Metric]:
        counts = self._reading.counts
        yield CounterMetricFamily(
            "belayer_events_appended", "Events that were appended to the store.", counts.events
        )
        yield GaugeMetricFamily(
            "belayer_store_bytes", "Bytes of the store, without payloads that lie aside.", counts.bytes
        )

    def _calls(self) -> Iterator[Metric]:
        tallies = sorted(self._reading.tallies.items())
        calls = CounterMetricFamily(
            "belayer_calls", "Calls that ended since this process began.", labels=["tool", "outcome"]
        )
        for tool, tally in tallies:
            calls.add_metric([tool, "succeeded"], tally.succeeded)
            calls.add_metric([tool, "failed"], tally.failed)
        yield calls
        yield _by_tool(
            "belayer_retries", "Attempts after the first.", [(tool, one.retried) for tool, one in tallies]
        )
        yield _by_tool("belayer_tokens", "Tokens used.", [(tool, one.tokens) for tool, one in tallies])
        yield _by_tool("belayer_usd", "US dollars spent.", [(tool, one.usd) for tool, one in tallies])

    def _seconds(self) -> Metric:
        """Sum and count are this process's own; the quantiles are those of the latest successes that are known."""
        name = "belayer_call_seconds"
        seconds = Metric(name, "How long calls took.", "summary")
        for past in self._reading.past:
            for share, value in (("0.5", past.p50), ("0.95", past.p95)):
                if value is not None:
                    seconds.add_sample(name, {"tool": past.name, "quantile": share}, value)
        for tool, tally in sorted(self._reading.tallies.items()):
            seconds.add_sample(f"{name}_sum", {"tool": tool}, tally.seconds)
            seconds.add_sample(f"{name}_count", {"tool": tool}, tally.succeeded + tally.failed)
        return seconds

    def _breakers(self) -> Metric:
        breakers = GaugeMetricFamily(
            "belayer_breaker", "1 for the state that a tool's breaker is in.", labels=["tool", "state"]
        )
        for tool, now in sorted(self._reading.breakers.items()):
            for state in BreakerState:
                breakers.add_metric([tool, state.value], now is state)
        return breakers


def _by_tool(name: str, about: str, values: Iterable[tuple[str, float]]) -> Metric:
    counter = CounterMetricFamily(name, about, labels=["tool"])
    for tool, value in values:
        counter.add_metric([tool], value)
    return counter
