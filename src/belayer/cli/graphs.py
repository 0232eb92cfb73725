"""A graph's answers on the screen. Pure but for the screen; whatever a repository named is made safe first."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from belayer.cli.desk import Desk
from belayer.cli.safe_text import safe_line
from belayer.cli.wording import counted, duration
from belayer.codegraph.answers import (
    Dependencies,
    Endpoints,
    Graph,
    Impact,
    Link,
    ModuleLink,
    Modules,
    Risk,
    Symbol,
    Symbols,
    TestHit,
    Use,
)
from belayer.workflows.graph.repositories import Repository

AnyAnswer = Modules | Endpoints | Symbols | Dependencies | Risk | Impact | Graph

_LEVELS = {"low": "green", "medium": "yellow", "high": "bold red"}
_SHOWN_REASONS = 3
_SURE = {"resolved": "green", "inferred": "yellow", "by-name": "bright_black"}


def tell_built(desk: Desk, repository: Repository) -> None:
    """What was read, and how large the graph is."""
    built = repository.built
    assert built is not None
    desk.screen.answer(
        {
            "repo_id": repository.id,
            "name": repository.name,
            "commit": repository.commit,
            "graph": built.model_dump(mode="json"),
        }
    )
    spoken = ", ".join(f"{safe_line(name)} {count:,}" for name, count in sorted(built.languages.items()))
    desk.screen.say(
        f"{counted(built.files, 'file')} ({spoken or 'no language that is known here'}),"
        f" {built.nodes:,} nodes, {built.edges:,} edges; {built.parsed:,} read and {built.relinked:,} linked"
        f" in {duration(built.seconds)}."
    )
    if built.skipped:
        left = ", ".join(f"{count:,} {safe_line(why)}" for why, count in sorted(built.skipped.items()))
        desk.screen.say(f"Left out: {left}.", style="bright_black")
    if built.broken:
        named = ", ".join(safe_line(path) for path in built.broken[:5])
        desk.screen.warn(f"{counted(len(built.broken), 'file')} could not be read whole: {named}.")
    if built.truncated:
        desk.screen.warn("The repository is larger than can be read; the graph is of a part of it.")
    where = repository.folder if repository.commit is None else repository.source
    desk.screen.say(f"Ask it: {desk.command('graph', str(where), 'impact', 'NAME')}", style="bright_black")


def draw_answer(desk: Desk, answer: AnyAnswer) -> None:
    """The answer for a person."""
    match answer:
        case Modules():
            _draw_modules(desk, answer)
        case Endpoints():
            _draw_endpoints(desk, answer)
        case Symbols():
            _draw_symbols(desk, answer)
        case Dependencies():
            _draw_dependencies(desk, answer)
        case Risk():
            _draw_risk(desk, answer)
        case Impact():
            _draw_impact(desk, answer)
        case Graph():
            desk.screen.say(f"{answer.total_nodes:,} nodes, {answer.total_links:,} links.")


def _draw_modules(desk: Desk, answer: Modules) -> None:
    table = _table("MODULE", "LANGUAGE", "TAGS", "SYMBOLS", "USED BY", "USES")
    for one in answer.modules:
        table.add_row(
            Text(safe_line(one.path)),
            one.language,
            Text(safe_line(", ".join(one.tags)), style="cyan"),
            f"{one.symbols:,}",
            f"{one.dependents:,}",
            f"{one.dependencies:,}",
        )
    desk.screen.draw(table)
    _more(desk, len(answer.modules), answer.total, "module")


def _draw_endpoints(desk: Desk, answer: Endpoints) -> None:
    table = _table("REQUEST", "SERVED BY", "WHERE")
    for one in answer.endpoints:
        handler = safe_line(one.handler.name) if one.handler else "-"
        table.add_row(
            Text.assemble((safe_line(one.method), "bold"), " ", safe_line(one.route)),
            Text(handler),
            _place(one.path, one.line),
        )
    desk.screen.draw(table)
    _more(desk, len(answer.endpoints), answer.total, "endpoint")


def _draw_symbols(desk: Desk, answer: Symbols) -> None:
    table = _table("SYMBOL", "KIND", "WHERE")
    for one in answer.symbols:
        table.add_row(
            Text(safe_line(one.symbol.name)), one.symbol.kind, _place(one.symbol.path, one.symbol.line)
        )
    desk.screen.draw(table)
    _more(desk, len(answer.symbols), answer.total, "symbol")


def _draw_dependencies(desk: Desk, answer: Dependencies) -> None:
    desk.screen.say(_title(answer.target))
    _modules(desk, "imports", answer.imports)
    _modules(desk, "imported by", answer.imported_by)
    _uses(desk, "calls", answer.callees)
    _uses(desk, "called by", answer.callers)
    if answer.truncated:
        desk.screen.warn("There is more; see it with a larger --limit.")


def _draw_risk(desk: Desk, answer: Risk) -> None:
    desk.screen.say(Text.assemble("risk ", (f"{answer.score} of 100, {answer.level}", _LEVELS[answer.level])))
    for reason in answer.reasons:
        desk.screen.say(Text.assemble((f"{reason.points:+6.1f}  ", "bright_black"), safe_line(reason.text)))


def _draw_impact(desk: Desk, answer: Impact) -> None:
    for target in answer.targets:
        desk.screen.say(_title(target))
    _draw_risk(desk, answer.risk)
    word = "reaches" if answer.direction == "dependents" else "needs"
    totals = answer.totals
    desk.screen.say(
        f"{word} {counted(totals.modules, 'module')}, {counted(totals.symbols, 'symbol')},"
        f" {counted(totals.endpoints, 'endpoint')}, {counted(totals.tests, 'test')}"
    )
    _hits(desk, "modules", [(one.path, one.depth, one.confidence, one.why) for one in answer.modules])
    _hits(desk, "symbols", [(one.symbol.name, one.depth, one.confidence, one.why) for one in answer.symbols])
    _hits(
        desk,
        "endpoints",
        [
            (f"{one.endpoint.method} {one.endpoint.route}", one.depth, one.confidence, one.why)
            for one in answer.endpoints
        ],
    )
    _tests(desk, answer.tests)
    if answer.truncated:
        desk.screen.warn("There is more; see it with a larger --limit.")


def _hits(desk: Desk, title: str, hits: Sequence[tuple[str, int, str, Sequence[Link]]]) -> None:
    if not hits:
        return
    desk.screen.say()
    table = _table(title.upper(), "FAR", "SURE", "BECAUSE")
    for name, depth, confidence, why in hits:
        table.add_row(
            Text(safe_line(name)), str(depth), Text(confidence, style=_SURE[confidence]), Text(_because(why))
        )
    desk.screen.draw(table)


def _tests(desk: Desk, tests: Sequence[TestHit]) -> None:
    if not tests:
        return
    desk.screen.say()
    table = _table("TESTS TO RUN, BEST FIRST", "FAR", "SURE", "SCORE", "BECAUSE")
    for one in tests:
        table.add_row(
            Text(safe_line(one.symbol.id)),
            str(one.depth),
            Text(one.confidence, style=_SURE[one.confidence]),
            f"{one.score:.1f}",
            Text(" ".join(safe_line(reason.text) for reason in one.reasons[:_SHOWN_REASONS])),
        )
    desk.screen.draw(table)


def _because(why: Sequence[Link]) -> str:
    """The path that explains a hit: who refers to whom, and where it says so."""
    if not why:
        return ""
    words = [f"{link.relation} {safe_line(link.target.rpartition('::')[2])}" for link in why]
    return f"{safe_line(why[0].path)}:{why[0].line} " + ", which ".join(words)


def _modules(desk: Desk, title: str, links: Sequence[ModuleLink]) -> None:
    for one in links:
        desk.screen.say(
            Text.assemble(
                (f"  {title:<12} ", "bright_black"),
                safe_line(one.path),
                (f"  {counted(one.references, 'reference')}", "bright_black"),
            )
        )


def _uses(desk: Desk, title: str, uses: Sequence[Use]) -> None:
    for one in uses:
        desk.screen.say(
            Text.assemble(
                (f"  {title:<12} ", "bright_black"),
                safe_line(one.outer.name),
                (f"  {one.link.confidence}, {safe_line(one.link.path)}:{one.link.line}", "bright_black"),
            )
        )


def _title(symbol: Symbol) -> Text:
    return Text.assemble(
        (safe_line(symbol.name), "bold"),
        (f"  {symbol.kind}, {safe_line(symbol.path)}:{symbol.line}", "bright_black"),
    )


def _place(path: str, line: int) -> Text:
    return Text(f"{safe_line(path)}:{line}", style="bright_black")


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, header_style="bright_black", pad_edge=False)
    table.add_column(first, overflow="fold")
    for name in others:
        table.add_column(name, overflow="fold")
    return table


def _more(desk: Desk, shown: int, total: int, what: str) -> None:
    if total == 0:
        desk.screen.say(f"No such {what}.")
    elif shown < total:
        desk.screen.say(f"{shown:,} of {counted(total, what)}; more with --limit.", style="bright_black")
