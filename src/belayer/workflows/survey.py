"""Survey a source tree: lines by language, the largest functions, open notes; a person says what comes first.

Also an example to read. Everything that looks at the world or changes it is an act, run as a step under a key of its
own: killed at any point, the survey goes on where it was, and a file that was written is not written again.
"""

import ast
import csv
import io
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from belayer.execution.act import act
from belayer.execution.run import Run
from belayer.vocabulary.errors import ConfigurationError

_LANGUAGES = {
    ".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".cs": "C#", ".css": "CSS", ".go": "Go",
    ".html": "HTML", ".java": "Java", ".js": "JavaScript", ".jsx": "JavaScript", ".json": "JSON", ".kt": "Kotlin",
    ".md": "Markdown", ".php": "PHP", ".py": "Python", ".pyi": "Python", ".rb": "Ruby", ".rs": "Rust",
    ".rst": "reStructuredText", ".sh": "Shell", ".sql": "SQL", ".swift": "Swift", ".toml": "TOML",
    ".ts": "TypeScript", ".tsx": "TypeScript", ".txt": "Text", ".yaml": "YAML", ".yml": "YAML",
}  # fmt: skip
_SKIPPED = {"__pycache__", "node_modules", "site-packages", "target", "venv"}
_NOTE = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b:?\s*(.{0,100})")

# A survey is to be quick on any tree: what is larger than this is left out, and the report says so.
_MOST_FILES = 20_000
_MOST_BYTES = 1_000_000
_MOST_KEPT = 200
_BATCH = 100

PARTS = ("languages", "functions", "notes")


@dataclass(frozen=True, slots=True)
class Places:
    """Where to look and where to write, the same wherever the survey is taken up again."""

    folder: Path
    report: Path


@dataclass(frozen=True, slots=True)
class Language:
    """How much there is of one language."""

    name: str
    files: int
    lines: int


@dataclass(frozen=True, slots=True)
class Function:
    """A function and its size."""

    lines: int
    name: str
    place: str


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was left to do."""

    text: str
    place: str


@dataclass(frozen=True, slots=True)
class Survey:
    """What was found."""

    languages: list[Language]
    functions: list[Function]
    notes: list[Note]


@dataclass(frozen=True, slots=True)
class Summary:
    """What the session gives back."""

    report: Path
    files: int
    lines: int
    languages: list[Language]
    largest: list[Function]
    notes: int


async def survey(
    run: Run,
    folder: Path = Path(),
    report: Path = Path("survey.md"),
    top: int = 10,
    most_files: int = _MOST_FILES,
    receipts: Path | None = None,
) -> Summary:
    """Survey the folder and write a report. With `receipts`, every write also leaves a line there."""
    places = await run.step("places", find_places, folder, report)
    files = await run.step("files", list_files, places.folder, most_files)
    batches = _batches([file for file in files if file.endswith(".py")])
    await run.plan(
        ("places", "Find the folder"),
        ("files", "List the files"),
        ("languages", "Count lines by language"),
        ("table", "Write the table of files"),
        *(
            (f"functions/{n}", f"Measure functions, part {n} of {len(batches)}")
            for n in range(1, len(batches) + 1)
        ),
        ("notes", "Look for open notes"),
        ("report", "Write the report"),
    )
    languages = await run.step("languages", count_lines, places.folder, files)
    await run.step("table", write_table, places.folder, files, places.report.with_suffix(".csv"), receipts)
    functions: list[Function] = []
    for number, batch in enumerate(batches, 1):
        found = await run.step(f"functions/{number}", measure_functions, places.folder, batch)
        functions = _largest(functions + found)
    notes = await run.step("notes", find_notes, places.folder, files)
    await run.log(f"{len(files)} files looked at, {len(notes)} open notes found")

    first = await run.ask("first", "Which part should the report put first?", choices=PARTS)

    text = render(Survey(languages, functions, notes), places.folder, first, top)
    await run.step("report", write_report, places.report, text, receipts)
    lines = sum(language.lines for language in languages)
    return Summary(places.report, len(files), lines, languages[:top], functions[:top], len(notes))


@act(effect="read")
def find_places(folder: Path, report: Path) -> Places:
    """Absolute paths, so that the survey may be taken up from another folder."""
    if not folder.is_dir():
        raise ConfigurationError(f"{folder} is not a folder.", "Give one with -i folder=PATH.")
    return Places(folder.resolve(), report.resolve())


@act(effect="read")
def list_files(folder: Path, most: int) -> list[str]:
    """Files in languages we know, relative to the folder, in a fixed order."""
    found: list[str] = []
    for file in _walk(folder):
        found.append(str(file.relative_to(folder)))
        if len(found) >= most:
            break
    return found


@act(effect="read")
def count_lines(folder: Path, files: list[str]) -> list[Language]:
    """Lines by language, the largest first."""
    counted: dict[str, tuple[int, int]] = {}
    for file in files:
        name = _LANGUAGES[Path(file).suffix]
        known_files, known_lines = counted.get(name, (0, 0))
        counted[name] = known_files + 1, known_lines + len(_read(folder / file).splitlines())
    languages = [Language(name, *counts) for name, counts in counted.items()]
    return sorted(languages, key=lambda language: (-language.lines, language.name))


@act(effect="write", idempotent=True)
def write_table(folder: Path, files: list[str], place: Path, receipts: Path | None) -> str:
    """One line per file, for a spreadsheet."""
    table = io.StringIO()
    rows = csv.writer(table)
    rows.writerow(["file", "language", "lines"])
    rows.writerows(
        [file, _LANGUAGES[Path(file).suffix], len(_read(folder / file).splitlines())] for file in files
    )
    _write(place, table.getvalue(), receipts)
    return str(place)


@act(effect="read")
def measure_functions(folder: Path, files: list[str]) -> list[Function]:
    """The largest functions of some Python files."""
    return _largest([function for file in files for function in _functions(folder / file, file)])


@act(effect="read")
def find_notes(folder: Path, files: list[str]) -> list[Note]:
    """What people left to do, as they wrote it."""
    notes: list[Note] = []
    for file in files:
        for number, line in enumerate(_read(folder / file).splitlines(), 1):
            found = _NOTE.search(line)
            if found is not None:
                notes.append(Note(f"{found[1]} {found[2]}".strip(), f"{file}:{number}"))
            if len(notes) >= _MOST_KEPT:
                return notes
    return notes


@act(effect="write", idempotent=True)
def write_report(place: Path, text: str, receipts: Path | None) -> str:
    """The report, whole or not at all."""
    _write(place, text, receipts)
    return str(place)


def render(found: Survey, folder: Path, first: str, top: int) -> str:
    """The report as Markdown, the part that the person chose in front. Pure."""
    sections = {
        "languages": ("Lines by language", "language | files | lines", _language_rows(found)),
        "functions": ("Largest functions", "function | lines | place", _function_rows(found)),
        "notes": ("Open notes", "note | place", _note_rows(found)),
    }
    order = [first, *(part for part in PARTS if part != first)]
    written = [f"# Survey of {folder.name}\n"]
    for title, head, rows in (sections[part] for part in order):
        rule = " | ".join("---" for _ in head.split("|"))
        body = "\n".join(f"| {row} |" for row in rows[:top]) or "| none |"
        written.append(f"## {title}\n\n| {head} |\n| {rule} |\n{body}\n")
    return "\n".join(written)


def _language_rows(found: Survey) -> list[str]:
    return [f"{language.name} | {language.files} | {language.lines}" for language in found.languages]


def _function_rows(found: Survey) -> list[str]:
    return [f"`{function.name}` | {function.lines} | {function.place}" for function in found.functions]


def _note_rows(found: Survey) -> list[str]:
    return [f"{note.text.replace('|', '/')} | {note.place}" for note in found.notes]


def _walk(folder: Path) -> Iterator[Path]:
    """Files in a known language, without hidden folders, dependencies and what is too large. Follows no links."""
    for path, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED)
        yield from (Path(path, name) for name in sorted(files) if _fits(Path(path, name)))


def _fits(file: Path) -> bool:
    """Whether it can be surveyed: of a language we know, small enough, and with a name that can be written down."""
    try:
        return (
            file.suffix in _LANGUAGES
            and not file.is_symlink()
            and file.stat().st_size <= _MOST_BYTES
            and bool(str(file).encode())
        )
    except (OSError, UnicodeEncodeError):
        return False


def _read(file: Path) -> str:
    """A file's text; nothing if it has gone in the meantime."""
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _functions(file: Path, name: str) -> Iterator[Function]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(_read(file))
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            yield Function(lines, node.name, f"{name}:{node.lineno}")


def _largest(functions: list[Function]) -> list[Function]:
    return sorted(functions, key=lambda function: (-function.lines, function.place))[:_MOST_KEPT]


def _batches(files: list[str]) -> list[list[str]]:
    return [files[start : start + _BATCH] for start in range(0, len(files), _BATCH)]


def _write(place: Path, text: str, receipts: Path | None) -> None:
    """Written aside, then named: a reader sees the old file or the new one, never half of one."""
    place.parent.mkdir(parents=True, exist_ok=True)
    aside = place.with_name(f".{place.name}.new")
    aside.write_text(text, encoding="utf-8")
    aside.replace(place)
    if receipts is not None:
        with receipts.open("a", encoding="utf-8") as lines:
            lines.write(f"wrote {place.name}\n")
