"""One session on the screen: what it is, how far, its steps and where one could go back to, and what it needs."""

from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from belayer.cli.desk import Desk
from belayer.cli.ending import tell_ending, tell_requests
from belayer.cli.planned import is_plan, titles_of
from belayer.cli.requests import how_to_answer
from belayer.cli.safe_text import safe_line, shortened
from belayer.cli.story import in_words, opened
from belayer.cli.wording import STATUS_STYLE, STEP_MARK, brief, clock_time, duration
from belayer.sessions.state import SessionState, StepView
from belayer.vocabulary.events.event import Json, Status, StepStatus
from belayer.vocabulary.events.steps import PlannedStep

_STEPS = 30
_INPUT_WIDTH = 100
_ENDED = (StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED)


async def draw_session(desk: Desk, state: SessionState, *, driven: bool, full: bool = False) -> None:
    """Everything but the events."""
    desk.screen.draw(_facts(state, driven=driven))
    if state.steps or state.plan:
        desk.screen.say()
        desk.screen.draw(_steps(state))
    for seq, name in state.checkpoints.items():
        desk.screen.say(
            Text.assemble(("checkpoint ", "bright_black"), safe_line(name), (f"  seq {seq}", "bright_black"))
        )
    for made in state.artifacts.values():
        desk.screen.say(
            Text.assemble(
                ("made ", "bright_black"), made.name, (f"  {safe_line(made.media_type)}", "bright_black")
            )
        )
    desk.screen.say()
    if state.status in (Status.QUEUED, Status.RUNNING):
        _under_way(desk, state, driven=driven)
        await _asked_meanwhile(desk, state, full=full)
    else:
        await tell_ending(desk, state, full=full)


def event_lines(wires: Sequence[bytes]) -> Iterator[Text]:
    """Every event on a line: its number, its time, its type, what happened."""
    for envelope in map(opened, wires):
        yield Text.assemble(
            (f"{envelope.seq:>6} ", "cyan"),
            (f"{envelope.timestamp[11:23]} ", "bright_black"),
            f"{envelope.type:<16} ",
            in_words(envelope),
        )


def _under_way(desk: Desk, state: SessionState, *, driven: bool) -> None:
    word = "follow" if driven else "resume"
    said = "Watch it with:" if driven else "No process drives it now. Go on with:"
    desk.screen.say(said)
    desk.screen.say(f"  {desk.command(word, state.id)}", style="cyan")


async def _asked_meanwhile(desk: Desk, state: SessionState, *, full: bool) -> None:
    """What a session asks while other steps of it go on."""
    await tell_requests(desk, state, full=full)
    for request in state.pending.values():
        for line in how_to_answer(desk, state, request):
            desk.screen.say(f"  {safe_line(line)}", style="cyan")


def _facts(state: SessionState, *, driven: bool) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bright_black", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in _fact_rows(state, driven=driven):
        table.add_row(name, value)
    return table


def _fact_rows(state: SessionState, *, driven: bool) -> Iterator[tuple[str, Text]]:
    status = Text(state.status.value, style=STATUS_STYLE[state.status])
    if state.status is Status.RUNNING and not driven:
        status.append("  (its process has died)", style="red")
    yield "title", Text(safe_line(state.title), style="bold")
    yield "session", Text(state.id)
    yield "status", status
    yield "workflow", Text(f"{safe_line(state.workflow)} ({state.mode})")
    if given := _given(state):
        yield "input", Text(shortened(safe_line(brief(given)), _INPUT_WIDTH))
    if state.workspace:
        yield "workspace", Text(safe_line(state.workspace))
    if state.created_at and state.updated_at:
        yield "started", Text(clock_time(state.created_at))
        yield "changed", Text(f"{clock_time(state.updated_at)} (event {state.seq})")
    if state.forked_from:
        yield "forked from", Text(f"{state.forked_from.session_id} at {state.forked_from.seq}")
    wakes = state.after_pause.at if state.after_pause else state.wake_at
    if wakes:
        yield "wakes", Text(clock_time(wakes))
    progress = state.progress()
    if progress:
        yield "progress", Text(f"{progress[0]} of {progress[1]} planned steps")
    if state.usage.steps:
        yield "used", Text(_usage(state))


def _given(state: SessionState) -> Json:
    """What the session was started with; of a plan its inputs, for its steps are listed anyway."""
    return state.input.get("inputs") if isinstance(state.input, dict) and is_plan(state) else state.input


def _usage(state: SessionState) -> str:
    parts = [f"{state.usage.steps} steps", duration(state.usage.seconds)]
    parts += [f"{state.usage.tokens} tokens"] if state.usage.tokens else []
    parts += [f"{state.usage.usd:.2f} USD"] if state.usage.usd else []
    limits = [f"{name} {value:g}" for name, value in state.budget if value is not None]
    return ", ".join(parts) + (f"  (budget: {', '.join(limits)})" if limits else "")


def _steps(state: SessionState) -> Table:
    table = Table(box=None, header_style="bright_black", pad_edge=False)
    table.add_column("")
    table.add_column("STEP", no_wrap=True, overflow="ellipsis", max_width=70)
    table.add_column("TIME", justify="right", no_wrap=True)
    table.add_column("AFTER IT: SEQ", justify="right", no_wrap=True)
    if is_plan(state):
        _add_planned(table, state)
    else:
        _add_done(table, state)
    return table


def _add_done(table: Table, state: SessionState) -> None:
    titles = titles_of(state)
    rows = [step for step in state.steps.values() if not _is_value(step)]
    if len(rows) > _STEPS:
        table.add_row(
            "", Text(f"… {len(rows) - _STEPS} earlier steps (all with --json)", "bright_black"), "", ""
        )
    for step in rows[-_STEPS:]:
        label = Text(safe_line(titles.get(step.key, step.key)))
        label.append(f" (attempt {step.attempt})" if step.attempt > 1 else "", "yellow")
        label.append(f"  {safe_line(step.problem.detail)}" if step.problem else "", "red")
        took = duration(step.seconds) if step.seconds is not None else ""
        table.add_row(Text(*STEP_MARK[step.status]), label, took, str(step.seq))
    for ahead in state.plan:
        if ahead.key not in state.steps:
            table.add_row(
                Text(*STEP_MARK[StepStatus.PENDING]), Text(safe_line(ahead.title), "bright_black"), "", ""
            )


def _add_planned(table: Table, state: SessionState) -> None:
    """The steps of a plan in its order, each as its last try left it."""
    ended = [step for step in state.plan if state.planned(step) in _ENDED]
    ahead = [step for step in state.plan if state.planned(step) not in _ENDED]
    if len(ended) > _STEPS:
        earlier = f"… {len(ended) - _STEPS} earlier steps (all with --json)"
        table.add_row("", Text(earlier, "bright_black"), "", "")
    for step in [*ended[-_STEPS:], *ahead[:_STEPS]]:
        _add_step(table, state, step)
    if len(ahead) > _STEPS:
        table.add_row("", Text(f"… {len(ahead) - _STEPS} more steps", "bright_black"), "", "")


def _add_step(table: Table, state: SessionState, step: PlannedStep) -> None:
    status, tried = state.planned(step), state.tries.get(step.key)
    label = Text(safe_line(step.title))
    label.append(f"  {safe_line(step.tool or '')}", "bright_black")
    if tried is None:
        table.add_row(Text(*STEP_MARK[status]), label, "", "")
        return
    number = tried.key.partition("#")[2]
    label.append(f" (try {number})" if number else "", "yellow")
    label.append(f" (attempt {tried.attempt})" if tried.attempt > 1 else "", "yellow")
    label.append(f"  {safe_line(tried.problem.detail)}" if tried.problem else "", "red")
    label.append(f"  {safe_line(tried.reason)}" if tried.reason else "", "bright_black")
    took = duration(tried.seconds) if tried.seconds else ""
    table.add_row(Text(*STEP_MARK[status]), label, took, str(tried.seq))


def _is_value(step: StepView) -> bool:
    return step.name in ("now", "random") and step.seconds is None
