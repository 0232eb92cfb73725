"""The tools on the screen: how they fare, what they take, and an example that a plan would accept."""

import json
import sys
from pathlib import Path

import pytest
import yaml

from belayer.cli.exits import Exit
from belayer.tools.catalog import Means, catalog
from tests.cli.stage import Cli, read, write

NAMES = [tool.name for tool in catalog(Means())]


def test_the_table_has_every_tool_with_its_past(cli: Cli) -> None:
    (cli.workspace / "a").write_text("x")
    cli.run_plan(write("one", "b"), read("two", "a"), read("three", "none", optional=True))
    said = cli("tools")
    assert said.code == Exit.DONE
    rows = {line.split()[0]: line.split() for line in said.out.splitlines()}
    assert set(NAMES) <= rows.keys()
    assert "closed 2 50 %" in " ".join(rows["files.read"])
    assert "closed" in rows["files.write"]


@pytest.mark.parametrize("name", NAMES)
def test_every_tool_has_a_page_and_an_example_that_fits(cli: Cli, name: str) -> None:
    said = cli("tools", name)
    assert said.code == Exit.DONE
    for part in ("effect:", "health:", "Parameters:", "In a plan:"):
        assert part in said.out
    example = cli("tools", name, "--json").json()["example"]
    file = cli.home.with_name("example.yaml")
    file.write_text(f"steps:\n{example}\n")
    assert cli("run", str(file), "--dry-run").code == Exit.DONE
    assert yaml.safe_load(example)[0]["tool"] == name


def test_a_group_of_tools_is_a_shorter_table(cli: Cli) -> None:
    said = [tool["name"] for tool in cli("tools", "files", "--json").json()["tools"]]
    assert said == sorted(name for name in NAMES if name.startswith("files."))


def test_a_parameter_says_its_type_default_and_meaning(cli: Cli) -> None:
    said = cli("tools", "files.edit").out
    assert "old (string, needed)  Exactly as it stands in the file." in said
    assert "all (boolean, optional, else false)" in said


def test_an_unknown_tool_is_a_sentence_with_the_next_best(cli: Cli) -> None:
    said = cli("tools", "files.reed", "--json")
    assert said.code == Exit.FAILED
    assert json.loads(said.err)["hint"] == "Did you mean files.read?"


def test_the_tools_of_a_server_are_listed_and_a_change_is_accepted_by_hand(cli: Cli, tmp_path: Path) -> None:
    server = Path(__file__).parents[1] / "support" / "mcp_server.py"
    servers = tmp_path / "servers.json"
    entry = {"command": sys.executable, "args": [str(server), "plain"]}
    servers.write_text(json.dumps({"mcpServers": {"others": entry}}))
    cli.env["BELAYER_MCP_SERVERS"] = str(servers)
    names = [one["name"] for one in cli("tools", "--json").json()["tools"]]
    assert any(name.startswith("others.") for name in names)
    assert cli("tools", "--accept", "others", "--json").json()["accepted"]
    assert "others: " in cli("doctor").out
    assert cli("tools", "--accept", "nobody").code == Exit.FAILED
