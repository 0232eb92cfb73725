"""The rules about what calls may do: see them, try them on the past, write them down."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer
from rich.text import Text

from belayer.cli.desk import Desk, carry_out
from belayer.cli.exits import Exit
from belayer.cli.options import AsJson, Home, Yes
from belayer.cli.people import be_sure
from belayer.cli.safe_text import safe_line
from belayer.cli.values import unfit_refused
from belayer.cli.wording import counted
from belayer.engine import Engine
from belayer.execution.policy import DEFAULTS
from belayer.tools.trial import Trial
from belayer.vocabulary.errors import Refused
from belayer.vocabulary.events.event import Effect
from belayer.vocabulary.rules import Risk, Rule, Verdict

ToolGlob = Annotated[
    str | None, typer.Option("--tool", metavar="GLOB", help="Tools, like files.*", show_default=False)
]
EffectOption = Annotated[
    Effect | None, typer.Option("--effect", help="What the call does to the world.", show_default=False)
]
PathGlob = Annotated[
    str | None,
    typer.Option("--path", metavar="GLOB", help="Paths in the workspace, like docs/**", show_default=False),
]
HostGlob = Annotated[
    str | None, typer.Option("--host", metavar="GLOB", help="Hosts, like *.example.org", show_default=False)
]
RiskOption = Annotated[
    Risk | None, typer.Option("--risk", help="This risk or a higher one.", show_default=False)
]
Usd = Annotated[
    float | None,
    typer.Option("--usd", min=0, help="Estimated to cost more US dollars.", show_default=False),
]
Note = Annotated[
    str | None, typer.Option("--note", help="Why, for whoever reads the rules.", show_default=False)
]
AlthoughRejected = Annotated[
    bool,
    typer.Option("--although-rejected", help="With --yes: even if it allows calls that you once rejected."),
]

_STYLES = {Verdict.ALLOW: "green", Verdict.ASK: "yellow", Verdict.DENY: "bold red"}


def show(context: typer.Context, as_json: AsJson = False, home: Home = None) -> None:
    """Show the rules about what calls may do, in the order in which they count; change them with the commands below."""
    if context.invoked_subcommand is not None:
        if as_json or home:
            raise typer.BadParameter("Give --json and --home after the command's own name.")
        return

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            mine, foreign = engine.rulebook.rules(), engine.rulebook.foreign()
        desk.screen.answer(
            {"rules": _shapes(mine), "defaults": _shapes(DEFAULTS), "not_accepted": _shapes(foreign)}
        )
        desk.screen.say("A deny anywhere wins; else the first rule that fits decides.", style="bright_black")
        desk.screen.say("Yours:" if mine else "Yours: none yet.")
        _tell_rules(desk, mine, first=1)
        desk.screen.say("Then what holds anyway:")
        _tell_rules(desk, DEFAULTS, first=len(mine) + 1)
        _tell_foreign(desk, engine, foreign)
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def allow(
    tool: ToolGlob = None,
    effect: EffectOption = None,
    path: PathGlob = None,
    host: HostGlob = None,
    risk: RiskOption = None,
    usd: Usd = None,
    note: Note = None,
    yes: Yes = False,
    although_rejected: AlthoughRejected = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Let calls pass without asking, once you have seen what that would have meant in the past."""
    rule = _rule(Verdict.ALLOW, tool, effect, path, host, risk, usd, note)
    _add(rule, home, as_json, yes=yes, although_rejected=although_rejected)


def ask(
    tool: ToolGlob = None,
    effect: EffectOption = None,
    path: PathGlob = None,
    host: HostGlob = None,
    risk: RiskOption = None,
    usd: Usd = None,
    note: Note = None,
    yes: Yes = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Have a person asked about calls."""
    _add(_rule(Verdict.ASK, tool, effect, path, host, risk, usd, note), home, as_json, yes=yes)


def deny(
    tool: ToolGlob = None,
    effect: EffectOption = None,
    path: PathGlob = None,
    host: HostGlob = None,
    risk: RiskOption = None,
    usd: Usd = None,
    note: Note = None,
    yes: Yes = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Forbid calls, whatever other rules say."""
    _add(_rule(Verdict.DENY, tool, effect, path, host, risk, usd, note), home, as_json, yes=yes)


def try_(
    verdict: Annotated[Verdict, typer.Argument(metavar="allow|ask|deny", help="What would become of calls.")],
    tool: ToolGlob = None,
    effect: EffectOption = None,
    path: PathGlob = None,
    host: HostGlob = None,
    risk: RiskOption = None,
    usd: Usd = None,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Say what a rule would have meant for past calls, and change nothing."""
    make = _rule(verdict, tool, effect, path, host, risk, usd, None)

    async def work(desk: Desk) -> int:
        with unfit_refused():
            rule = make()
        async with desk.engine() as engine:
            trial = await engine.try_rule(rule)
        _tell_trial(desk, trial)
        desk.screen.answer(_trial_shape(trial))
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def remove(
    number: Annotated[int, typer.Argument(metavar="N", min=1, help="The rule's number in `belayer policy`.")],
    yes: Yes = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Take one of your rules away."""

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            mine = engine.rulebook.rules()
            if number > len(mine):
                raise Refused(
                    f"You have {counted(len(mine), 'rule')}; number {number} is not one of them. Nothing was changed.",
                    f"See the numbers with `{desk.command('policy')}`; the defaults cannot be removed.",
                )
            _tell_rules(desk, mine[number - 1 : number], first=number)
            await be_sure(desk, "Remove this rule?", yes=yes)
            _save(desk, engine, [*mine[: number - 1], *mine[number:]])
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def accept(
    yes: Yes = False,
    although_rejected: AlthoughRejected = False,
    as_json: AsJson = False,
    home: Home = None,
) -> None:
    """Make rules yours that came with the folder (a clone, a copy) and do not count until you say so."""

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            foreign = engine.rulebook.foreign()
            if not foreign:
                raise Refused("There is nothing to accept: no rules lie here that do not count already.")
            trials = [await engine.try_rule(rule) for rule in foreign]
            for trial in trials:
                _tell_trial(desk, trial)
            _need_more_than_yes(trials, yes=yes, although_rejected=although_rejected)
            await be_sure(desk, f"Accept {counted(len(foreign), 'rule')}?", yes=yes)
            _save(desk, engine, foreign)
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def suggest(as_json: AsJson = False, home: Home = None) -> None:
    """Say which rules your own decisions suggest: what you approved again and again and never rejected."""

    async def work(desk: Desk) -> int:
        async with desk.engine() as engine:
            found = await engine.suggestions()
        for one in found:
            desk.screen.say(
                Text.assemble("You approved ", (f"{one.approved} times", "bold"), ", and never rejected:")
            )
            _tell_rules(desk, [one.rule])
            desk.screen.say(f"  {safe_line(_command_for(desk, one.rule))}", style="cyan")
        if not found:
            desk.screen.say(
                "Nothing to suggest: no kind of call was approved three times and never rejected."
            )
        desk.screen.answer(
            {"suggestions": [{"rule": _shape(one.rule), "approved": one.approved} for one in found]}
        )
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def _rule(
    verdict: Verdict,
    tool: str | None,
    effect: Effect | None,
    path: str | None,
    host: str | None,
    risk: Risk | None,
    usd: float | None,
    note: str | None,
) -> Callable[[], Rule]:
    """The rule that the options describe, made where a refusal can be told."""
    if (tool, effect, path, host, risk, usd) == (None,) * 6:
        raise typer.BadParameter("Say which calls: --tool, --effect, --path, --host, --risk or --usd.")
    return lambda: Rule(
        verdict=verdict, tool=tool, effect=effect, path=path, host=host, risk=risk, usd=usd, note=note
    )


def _add(
    make: Callable[[], Rule], home: Home, as_json: bool, *, yes: bool, although_rejected: bool = False
) -> None:
    async def work(desk: Desk) -> int:
        with unfit_refused():
            rule = make()
        async with desk.engine() as engine:
            _refuse_beside_foreign(desk, engine)
            trial = await engine.try_rule(rule)
            _tell_trial(desk, trial)
            _need_more_than_yes([trial], yes=yes, although_rejected=although_rejected)
            await be_sure(desk, "Put this rule before all others?", yes=yes)
            _save(desk, engine, [rule, *(one for one in engine.rulebook.rules() if one != rule)])
        return Exit.DONE

    carry_out(work, home=home, as_json=as_json)


def _refuse_beside_foreign(desk: Desk, engine: Engine) -> None:
    """Saving would overwrite rules that the person may want to look at first."""
    if engine.rulebook.foreign():
        raise Refused(
            f"In {engine.rulebook.path} lie rules that were saved elsewhere and do not count. Nothing was changed.",
            f"Look at them and make them yours with `{desk.command('policy', 'accept')}`, or remove the file.",
        )


def _need_more_than_yes(trials: Sequence[Trial], *, yes: bool, although_rejected: bool) -> None:
    rejected = sum(trial.rejected for trial in trials if trial.rule.verdict is Verdict.ALLOW)
    if yes and rejected and not although_rejected:
        raise Refused(
            f"It would have passed {counted(rejected, 'call')} that you rejected, so --yes is not enough."
            " Nothing was changed.",
            "Make the rule narrower, or add --although-rejected if you mean it.",
        )


def _save(desk: Desk, engine: Engine, rules: Sequence[Rule]) -> None:
    engine.rulebook.save(rules)
    desk.screen.say(f"Saved. You have {counted(len(rules), 'rule')} now; it counts from the next call on.")
    desk.screen.answer({"rules": _shapes(rules)})


def _tell_trial(desk: Desk, trial: Trial) -> None:
    _tell_rules(desk, [trial.rule])
    is_grave = trial.rule.verdict is Verdict.ALLOW and trial.rejected
    desk.screen.say(f"  {trial.in_words()}", style="bold red" if is_grave else None)


def _tell_rules(desk: Desk, rules: Sequence[Rule], *, first: int | None = None) -> None:
    for place, rule in enumerate(rules):
        number = "    " if first is None else f"{first + place:>4}. "
        words = safe_line(rule.in_words().removeprefix(f"{rule.verdict} "))
        line = Text.assemble((number, "cyan"), (f"{rule.verdict:<6}", _STYLES[rule.verdict]), words)
        line.append(f"  ({safe_line(rule.note)})" if rule.note else "", "bright_black")
        desk.screen.say(line)


def _tell_foreign(desk: Desk, engine: Engine, foreign: Sequence[Rule]) -> None:
    if not foreign:
        return
    desk.screen.warn(f"In {engine.rulebook.path} lie rules that were saved elsewhere. They do NOT count:")
    _tell_rules(desk, foreign)
    desk.screen.say(f"Make them yours with: {desk.command('policy', 'accept')}")


def _command_for(desk: Desk, rule: Rule) -> str:
    shape = rule.model_dump(mode="json", exclude_none=True, exclude={"verdict"})
    return desk.command(
        "policy", rule.verdict, *(word for name, value in shape.items() for word in (f"--{name}", str(value)))
    )


def _shape(rule: Rule) -> dict[str, Any]:
    return rule.model_dump(mode="json", exclude_none=True)


def _shapes(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    return [_shape(rule) for rule in rules]


def _trial_shape(trial: Trial) -> dict[str, Any]:
    return trial.model_dump(mode="json", exclude_none=True) | {"in_words": trial.in_words()}
