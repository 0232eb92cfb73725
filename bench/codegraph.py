"""The project graph: cold build beside bare parsing, one-file update, impact on 100,000 nodes, bytes an edge.

`python -m bench.codegraph`. The sources are Django, if the package client can bring it, and the standard library.
"""

import argparse
import asyncio
import itertools
import json
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from belayer.codegraph.build import build
from belayer.codegraph.codegraph import CodeGraph
from belayer.codegraph.discover import Stamp
from belayer.codegraph.graph import Confidence, Edge, Kind, Node, Relation
from belayer.codegraph.numbering import Numbering, put_links
from belayer.codegraph.packing import loose, loosen
from belayer.codegraph.store import FileRow, fresh_store
from bench.memory import rss_bytes
from bench.rounds import ratio, spread
from bench.table import TIMES, Figure, Row, Wanted, show, write

ROUNDS = 3
FILES = 3_000
UPDATES = 15
QUESTIONS = 200
NODES, EDGES = 100_000, 500_000
_PER_FILE = 25
_UV = Path(".tools/bin/uv")
_LARGEST = 1_500_000


def gathered(folder: Path, files: int) -> Path:
    """Real sources as one repository: Django first, then the standard library."""
    fetched, target = folder / "fetched", folder / "repository"
    places = [Path(sysconfig.get_paths()["stdlib"]), Path(sysconfig.get_paths()["purelib"])]
    if _UV.exists() and _brought(fetched):
        places.insert(0, fetched)
    found = itertools.chain.from_iterable(_sources(place) for place in places)
    for place, path in itertools.islice(found, files):
        copy = target / path
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(place / path, copy)
    return target


def _brought(fetched: Path) -> bool:
    command = [_UV, "pip", "install", "--quiet", "--no-deps", "--target", fetched, "django"]
    try:
        return subprocess.run(command, check=False, capture_output=True, timeout=120).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _sources(place: Path) -> Iterator[tuple[Path, Path]]:
    left_out = {"site-packages", "node_modules", "__pycache__", "_vendor", "vendor"}
    for path in sorted(place.rglob("*.py")):
        inner = path.relative_to(place)
        if left_out.isdisjoint(inner.parts) and path.stat().st_size <= _LARGEST:
            yield place, inner


def parsed_bare(folder: Path, workers: int = 2) -> float:
    """Seconds in which so many processes read and parse the same files and do nothing else."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "bench.bare_parse", str(folder), str(workers)]
    children = [subprocess.Popen([*command, str(number)]) for number in range(workers)]
    for child in children:
        if child.wait() != 0:
            raise RuntimeError("The bare parser failed, so there is nothing to compare with.")
    return time.perf_counter() - began


async def cold(folder: Path, home: Path) -> tuple[list[float], list[float], dict[str, Any]]:
    """Seconds of bare parsing and of a build from nothing, in turns; and what was built."""
    bare: list[float] = []
    ours: list[float] = []
    told: dict[str, Any] = {}
    for number in range(ROUNDS):
        bare.append(await asyncio.to_thread(parsed_bare, folder))
        began = time.perf_counter()
        built = await build(folder, home / f"cold-{number}.db")
        ours.append(time.perf_counter() - began)
        told = built.model_dump(include={"files", "nodes", "edges", "skipped"}) | {
            "broken": len(built.broken)
        }
    return bare, ours, told


async def updates(folder: Path, store: Path) -> tuple[list[float], list[float], int]:
    """Seconds from an edit to the new answer, with a process that stays and with a new one each time; how many files
    were linked again at most."""
    graph = await CodeGraph.open(folder, store)
    edited = sorted(folder.rglob("*.py"))[:: max(FILES // UPDATES, 1)][:UPDATES]
    await graph.update()
    warm, relinked = [], 0
    for number, path in enumerate(edited):
        with path.open("a") as file:
            file.write(f"\n\ndef added_by_the_benchmark_{number}():\n    return {number}\n")
        began = time.perf_counter()
        built = await graph.update()
        answer = await graph.impact([f"{path.relative_to(folder)}::added_by_the_benchmark_{number}"])
        warm.append(time.perf_counter() - began)
        relinked = max(relinked, built.relinked)
        assert built.parsed == 1
        assert answer.targets
    await graph.close()
    alone = []
    for path in edited[:5]:
        with path.open("a") as file:
            file.write("\n\ndef added_once_more():\n    pass\n")
        began = time.perf_counter()
        await build(folder, store)
        alone.append(time.perf_counter() - began)
    return warm, alone, relinked


def synthesize(place: Path) -> None:
    """A graph of 100,000 nodes and 500,000 edges: mostly calls to what is near, some to what everybody calls."""
    chance = random.Random(6)
    files = NODES // _PER_FILE
    with fresh_store(place) as store:
        numbering = Numbering(store, {}, is_new=True)
        for file in range(files):
            path = _id(file, 0)
            nodes = [_node(file, number) for number in range(_PER_FILE)]
            edges = [
                Edge(path, node.id, Relation.CONTAINS, Confidence.RESOLVED, node.line, 0)
                for node in nodes[1:]
            ]
            edges += [_edge(chance, file, files) for _ in range(EDGES // files - len(edges))]
            counts = put_links(store, file + 1, path, loose(loosen(path, nodes, edges, b"")), numbering)
            store.put_file(
                FileRow(file + 1, path, False, Stamp(1, 1, 1, 1), 1, b"", "", "python", 1, *counts)
            )
        store.set_meta({"generation": 1, "next": numbering.next})


def _id(file: int, number: int) -> str:
    path = f"package_{file % 50}/module_{file}.py"
    return f"{path}::Class{number % 4}.method_{number}" if number else path


def _node(file: int, number: int) -> Node:
    is_test = file % 8 == 0
    kind = Kind.METHOD if number else Kind.MODULE
    if number == 1 and file % 20 == 1:
        kind = Kind.ENDPOINT
    name = _id(file, number).replace(".py::", ".").replace("/", ".")
    return Node(
        _id(file, number),
        kind,
        name,
        _id(file, 0),
        10 * number + 1,
        10 * number + 9,
        "python",
        ("test",) if is_test else (),
    )


def _edge(chance: random.Random, file: int, files: int) -> Edge:
    near = (file + chance.randrange(-20, 20)) % files
    target = chance.choice((file, near, near, int(files * chance.random() ** 3), chance.randrange(files)))
    relation = chance.choices(
        (Relation.CALLS, Relation.USES, Relation.INHERITS, Relation.OVERRIDES), (80, 14, 3, 3)
    )[0]
    confidence = chance.choices(tuple(Confidence), (10, 20, 70))[0]
    source = _id(file, chance.randrange(1, _PER_FILE))
    return Edge(
        source, _id(target, chance.randrange(1, _PER_FILE)), relation, confidence, chance.randrange(1, 999), 4
    )


async def questions(place: Path, home: Path) -> dict[str, float]:
    """In a process of its own: seconds of impact questions, bytes of memory an edge."""
    before = rss_bytes()
    graph = await CodeGraph.open(home, place)
    chance, times = random.Random(7), []
    for _ in range(QUESTIONS):
        target = _id(chance.randrange(NODES // _PER_FILE), chance.randrange(1, _PER_FILE))
        began = time.perf_counter()
        await graph.impact([target])
        times.append(time.perf_counter() - began)
    taken = spread(times[10:])
    memory = rss_bytes() - before
    await graph.close()
    return {
        "median": taken.median,
        "p95": taken.p95,
        "memory": memory / EDGES,
        "disk": place.stat().st_size / EDGES,
    }


async def rows(files: int) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        home = Path(folder)
        repository = await asyncio.to_thread(gathered, home, files)
        bare, ours, told = await cold(repository, home)
        print(json.dumps(told))
        warm, alone, relinked = await updates(repository, home / "cold-0.db")
        asked = await _asked(home)
    return [
        Row(
            f"cold build of {told['files']:,} files, {told['edges']:,} edges",
            Figure(median(ours), "s"),
            Wanted("at most", 3.0, TIMES),
            {"bare parsing, two processes": Figure(median(bare), "s")},
            ratio(ours, bare),
        ),
        Row(
            f"one file changed, to the new answer (up to {relinked} linked again)",
            Figure(spread(warm).median * 1000, "ms", spread(warm).p95 * 1000),
            Wanted("at most", 150.0, "ms"),
        ),
        Row(
            "one file changed, by a process that starts for it",
            Figure(median(alone) * 1000, "ms"),
            Wanted("at most", 1_000, "ms"),
        ),
        Row(
            f"impact on {NODES:,} nodes, {EDGES:,} edges (p95)",
            Figure(asked["p95"] * 1000, "ms"),
            Wanted("at most", 20.0, "ms"),
            {"median": Figure(asked["median"] * 1000, "ms")},
        ),
        Row("memory of a graph, an edge", Figure(asked["memory"], "bytes"), Wanted("at most", 1024, "bytes")),
        Row("disk of a graph, an edge", Figure(asked["disk"], "bytes"), Wanted("at most", 1024, "bytes")),
    ]


async def _asked(home: Path) -> dict[str, float]:
    place = home / "synthetic.db"
    await asyncio.to_thread(synthesize, place)
    command = [sys.executable, "-m", "bench.codegraph", "--ask", str(place), str(home)]
    told = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    return json.loads(told.stdout)


async def main(arguments: argparse.Namespace) -> int:
    found = await rows(300 if arguments.quick else FILES)
    show(found, Console(width=140))
    if arguments.out is not None:
        write(found, arguments.out, {"rounds": ROUNDS, "cores": os.cpu_count(), "quick": arguments.quick})
    return 0 if all(row.met for row in found) else 1


def run(argv: Sequence[str]) -> int:
    if argv[:1] == ["--ask"]:
        print(json.dumps(asyncio.run(questions(Path(argv[1]), Path(argv[2])))))
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the files, to see that it runs")
    parser.add_argument("--out", type=Path, help="where the JSON goes")
    return asyncio.run(main(parser.parse_args(argv)))


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
