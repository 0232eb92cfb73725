"""Write the API's schema, from which the browser's types are made; with --check, only say whether it is current."""

import json
import sys
from pathlib import Path

from belayer.api.app import bare_app


def schema() -> str:
    return json.dumps(bare_app().openapi(), indent=1, sort_keys=True) + "\n"


def main(arguments: list[str]) -> int:
    *flags, path = arguments
    if flags == ["--check"]:
        if Path(path).read_text(encoding="utf-8") == schema():
            return 0
        print(f"{path} is not what the API says now. Run: make schema", file=sys.stderr)
        return 1
    Path(path).write_text(schema(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
