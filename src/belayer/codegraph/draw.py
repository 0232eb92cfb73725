"""Any answer as a drawing: Graphviz, Mermaid, or nodes and edges for a screen. Names come from hostile sources, so each
form has its own escape and nothing is passed through."""

from collections.abc import Callable, Iterable
from typing import Literal

from belayer.codegraph.answers import (
    Answer,
    Dependencies,
    Endpoint,
    Endpoints,
    Graph,
    Impact,
    Link,
    Modules,
    Neighbours,
    Sureness,
    Symbol,
    Symbols,
)

Role = Literal["target", "hit", "test", "endpoint", "plain"]
_LONGEST_LABEL = 80
_SHAPES = {
    "module": "folder",
    "class": "box",
    "function": "ellipse",
    "method": "ellipse",
    "endpoint": "house",
}
_COLOURS: dict[Role, str] = {
    "target": "#c2410c",
    "hit": "#1d4ed8",
    "test": "#15803d",
    "endpoint": "#7e22ce",
    "plain": "#525252",
}
_LINES: dict[Sureness, tuple[str, str]] = {
    "resolved": ("solid", "-->"),
    "inferred": ("dashed", "-.->"),
    "by-name": ("dotted", "-.->"),
}


class Dot(Answer):
    """A node of a drawing."""

    id: str
    label: str
    kind: str
    path: str
    line: int
    role: Role


class Stroke(Answer):
    """An edge of a drawing."""

    source: str
    target: str
    relation: str
    confidence: Sureness
    count: int


class Picture(Answer):
    """A drawing as data. Both ends of every edge are among the nodes."""

    nodes: tuple[Dot, ...]
    edges: tuple[Stroke, ...]
    truncated: bool


Drawable = Impact | Dependencies | Neighbours | Graph | Modules | Symbols | Endpoints


def picture_of(answer: Drawable, most: int = 200) -> Picture:
    """What an answer looks like; what comes first in it is drawn first, up to `most` nodes."""
    sketch = _Sketch(most)
    match answer:
        case Impact():
            _impact(sketch, answer)
        case Dependencies():
            _dependencies(sketch, answer)
        case Neighbours():
            sketch.symbols([answer.center], "target")
            sketch.symbols(answer.nodes, "plain")
            sketch.links(answer.links)
        case Graph():
            sketch.symbols(answer.nodes, "plain")
            sketch.links(answer.links)
        case Modules():
            for module in answer.modules:
                sketch.dot(module.path, module.name, "module", module.path, 1, "plain")
        case Symbols():
            sketch.symbols((found.symbol for found in answer.symbols), "plain")
        case Endpoints():
            for endpoint in answer.endpoints:
                _endpoint(sketch, endpoint)
    return sketch.done(
        truncated=getattr(answer, "truncated", False) or getattr(answer, "after", None) is not None
    )


def as_dot(picture: Picture) -> str:
    """For Graphviz."""
    lines = ["digraph belayer {", '  rankdir="LR";', '  node [fontname="sans-serif"];']
    for node in picture.nodes:
        shape, colour = _SHAPES.get(node.kind, "ellipse"), _COLOURS[node.role]
        tip = _dot_text(f"{node.path}:{node.line}")
        lines.append(
            f"  {_dot_text(node.id)} [label={_dot_text(node.label)} shape={shape}"
            f" color={_dot_text(colour)} tooltip={tip}];"
        )
    for edge in picture.edges:
        style = _LINES[edge.confidence][0]
        lines.append(
            f"  {_dot_text(edge.source)} -> {_dot_text(edge.target)} [label={_dot_text(_label(edge))} style={style}];"
        )
    if picture.truncated:
        lines.append('  "…" [label="… and more" shape=plaintext];')
    return "\n".join([*lines, "}", ""])


def as_mermaid(picture: Picture) -> str:
    """For Mermaid: a flowchart."""
    names = {node.id: f"n{number}" for number, node in enumerate(picture.nodes)}
    lines = ["flowchart LR"]
    lines += [f'  {names[node.id]}["{_mermaid_text(node.label)}"]:::{node.role}' for node in picture.nodes]
    for edge in picture.edges:
        arrow = _LINES[edge.confidence][1]
        lines.append(f'  {names[edge.source]} {arrow}|"{_mermaid_text(_label(edge))}"| {names[edge.target]}')
    if picture.truncated:
        lines.append('  more["… and more"]:::plain')
    lines += [f"  classDef {role} stroke:{colour},stroke-width:2px" for role, colour in _COLOURS.items()]
    return "\n".join([*lines, ""])


class _Sketch:
    """A drawing that grows up to its limit."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._dots: dict[str, Dot] = {}
        self._strokes: dict[tuple[str, str, str], Stroke] = {}
        self._cut = False

    def dot(self, node_id: str, name: str, kind: str, path: str, line: int, role: Role) -> bool:
        """Draw a node, unless there is no more room; whether it is there now."""
        if node_id in self._dots:
            return True
        if len(self._dots) >= self._most:
            self._cut = True
            return False
        self._dots[node_id] = Dot(
            id=node_id, label=_shortened(name), kind=kind, path=path, line=line, role=role
        )
        return True

    def symbols(self, symbols: Iterable[Symbol], role: Role) -> None:
        for symbol in symbols:
            self.dot(symbol.id, symbol.name, symbol.kind, symbol.path, symbol.line, role)

    def links(self, links: Iterable[Link]) -> None:
        """Draw links between what is drawn."""
        for link in links:
            if link.source in self._dots and link.target in self._dots:
                key = (link.source, link.target, link.relation)
                stroke = Stroke(
                    source=link.source,
                    target=link.target,
                    relation=link.relation,
                    confidence=link.confidence,
                    count=link.count,
                )
                self._strokes.setdefault(key, stroke)

    def way(self, links: Iterable[Link], role: Role) -> None:
        """Draw a path, with the nodes on it that have not been drawn."""
        for link in links:
            for node_id in (link.source, link.target):
                path, _, inner = node_id.partition("::")
                self.dot(node_id, inner or path, "function" if inner else "module", path, 0, role)
        self.links(links)

    def done(self, *, truncated: bool) -> Picture:
        return Picture(
            nodes=tuple(self._dots.values()),
            edges=tuple(self._strokes.values()),
            truncated=self._cut or truncated,
        )


def _impact(sketch: _Sketch, answer: Impact) -> None:
    sketch.symbols(answer.targets, "target")
    for hit in answer.endpoints:
        _endpoint(sketch, hit.endpoint)
        sketch.way(hit.why, "hit")
    for hit in answer.symbols:
        sketch.symbols([hit.symbol], "hit")
        sketch.way(hit.why, "hit")
    for hit in answer.tests:
        sketch.symbols([hit.symbol], "test")
        sketch.way(hit.why, "hit")
    for hit in answer.modules:
        sketch.way(hit.why, "hit")


def _dependencies(sketch: _Sketch, answer: Dependencies) -> None:
    sketch.symbols([answer.target], "target")
    for use in (*answer.callees, *answer.callers):
        sketch.symbols([use.inner], "target")
        sketch.symbols([use.outer], "plain")
        sketch.links([use.link])


def _endpoint(sketch: _Sketch, endpoint: Endpoint) -> None:
    sketch.dot(
        endpoint.id,
        f"{endpoint.method} {endpoint.route}",
        "endpoint",
        endpoint.path,
        endpoint.line,
        "endpoint",
    )
    if endpoint.handler is not None:
        sketch.symbols([endpoint.handler], "hit")
        link = Link(
            source=endpoint.id,
            target=endpoint.handler.id,
            relation="serves",
            confidence="resolved",
            path=endpoint.path,
            line=endpoint.line,
            column=0,
        )
        sketch.links([link])


def _shortened(name: str) -> str:
    return name if len(name) <= _LONGEST_LABEL else "…" + name[1 - _LONGEST_LABEL :]


def _label(edge: Stroke) -> str:
    return edge.relation if edge.count == 1 else f"{edge.relation} ({edge.count})"


def _dot_text(text: str) -> str:
    """A quoted string: only quotes and backslashes mean something in one, and lines must not break."""
    return '"' + _spelled(text, {'"': '\\"', "\\": "\\\\"}.get) + '"'


def _mermaid_text(text: str) -> str:
    """Inside quotes Mermaid knows entities, Markdown and HTML: whatever could begin one is written as an entity."""
    return _spelled(
        text, lambda letter: None if letter.isalnum() or letter in " ._-/:,()" else f"#{ord(letter)};"
    )


def _spelled(text: str, replacement: Callable[[str], str | None]) -> str:
    """The text with letters replaced; what cannot be seen is told by its number."""
    return "".join(
        (replacement(letter) or letter)
        if letter.isprintable()
        else f"<U+{ord(letter):04X}>".replace("<", "(").replace(">", ")")
        for letter in text
    )
