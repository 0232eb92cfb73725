import { expect, test } from "vitest";
import { exampleOf, parametersOf } from "@/panels/tools/parameters";
import type { ToolView } from "@/wire/types";

const SCHEMA = {
  type: "object",
  required: ["path", "kind", "where"],
  properties: {
    path: { type: "string", description: "Where it goes" },
    kind: { enum: ["a", "b"] },
    where: { $ref: "#/$defs/Where" },
    lines: { type: "array", items: { anyOf: [{ type: "integer" }, { type: "null" }] } },
    mode: { type: "string", default: "fast" },
    odd: 7,
  },
  $defs: {
    Where: {
      type: "object",
      description: "A place",
      required: ["depth", "inner"],
      properties: { depth: { type: "integer", minimum: 3 }, inner: { $ref: "#/$defs/Where" } },
    },
  },
};

test("the parameters of a tool are told from its schema", () => {
  expect(parametersOf(SCHEMA).map(({ name, type, isRequired }) => [name, type, isRequired])).toEqual([
    ["path", "string", true],
    ["kind", 'one of "a", "b"', true],
    ["where", "object", true],
    ["lines", "list of integer or null", false],
    ["mode", "string", false],
    ["odd", "any", false],
  ]);
  expect(parametersOf(SCHEMA)[2]?.about).toBe("A place");
  expect(parametersOf(SCHEMA)[4]?.preset).toBe('"fast"');
});

test("an example has what the tool cannot do without, and ends even if its schema does not", () => {
  const example = exampleOf({ name: "t", parameters: SCHEMA } as unknown as ToolView);
  expect(example).toMatchObject({
    tool: "t",
    params: { path: "…", kind: "a", where: { depth: 3, inner: { depth: 3 } } },
  });
});

test.each([{}, { properties: [] }, { properties: null, required: "x" }])(
  "%j is a schema without parameters",
  (schema) => {
    expect(parametersOf(schema as Record<string, unknown>)).toEqual([]);
  },
);
