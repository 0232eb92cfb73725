import { expect, test } from "vitest";
import { grouped } from "@/panels/tools/groups";
import type { ToolView } from "@/wire/types";

const groups = (...names: string[]) =>
  grouped(names.map((name) => ({ name }) as ToolView)).map(({ name, tools }) => [
    name,
    tools.map((tool) => tool.name),
  ]);

test("tools are in families by what stands before the first dot, those without a dot first", () => {
  expect(groups("shell.run", "code", "files.read", "shell.poll", "wait", "a.b.c")).toEqual([
    ["", ["code", "wait"]],
    ["a", ["a.b.c"]],
    ["files", ["files.read"]],
    ["shell", ["shell.run", "shell.poll"]],
  ]);
});

test("without tools there are no families", () => {
  expect(groups()).toEqual([]);
});
