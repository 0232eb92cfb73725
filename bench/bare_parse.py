"""Read and parse Python files with tree-sitter and do nothing else: the floor under a build of the graph.

`python -m bench.bare_parse FOLDER WORKERS NUMBER` parses one of so many processes' share. It imports nothing of ours.
"""

import sys
from pathlib import Path

import tree_sitter_python
from tree_sitter import Language, Parser


def main(folder: Path, workers: int, number: int) -> None:
    """Every so-manieth file, the largest first."""
    parser = Parser(Language(tree_sitter_python.language()))
    paths = sorted(folder.rglob("*.py"), key=lambda path: (-path.stat().st_size, path))
    for path in paths[number::workers]:
        parser.parse(path.read_bytes())


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
