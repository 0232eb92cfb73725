import { describe, expect, test } from "vitest";
import { fieldsOf, readForm } from "@/panels/requests/form";
import { ruleInWords } from "@/panels/requests/rule";
import { bodyOf, EMPTY } from "@/panels/start/plan";

describe("a form", () => {
  const schema = {
    properties: {
      name: { type: "string", title: "Your name", description: "As on the passport" },
      age: { type: "integer" },
      share: { type: "number", default: 0.5 },
      sure: { type: "boolean" },
      colour: { enum: ["red", 7, null] },
      tags: { type: "array" },
      note: {},
    },
    required: ["name", "colour"],
  };
  const fields = fieldsOf(schema);

  test("has a control for every field of its schema", () => {
    expect(fields.map((field) => field.kind)).toEqual([
      "text",
      "integer",
      "number",
      "boolean",
      "choice",
      "json",
      "text",
    ]);
    expect(fields[0]).toMatchObject({ label: "Your name", hint: "As on the passport", isRequired: true });
  });

  test("is read with the types of its schema, leaving out what is empty", () => {
    const read = readForm(fields, { name: "Ada", age: "36", sure: "true", colour: "1", tags: "[1]" });
    expect(read).toEqual({
      value: { name: "Ada", age: 36, share: 0.5, sure: true, colour: 7, tags: [1] },
      wrong: {},
    });
  });

  test("names every field that does not fit", () => {
    const { wrong } = readForm(fields, { age: "3.5", share: "much", tags: "[" });
    expect(wrong).toEqual({
      name: "This is required.",
      age: "This must be a whole number.",
      share: "This is not a number.",
      colour: "This is required.",
      tags: "This is not JSON.",
    });
  });

  test.each([null, 7, "x", [], { properties: 7 }, { properties: { a: 7 }, required: "a" }])(
    "can be made of %j, whatever that is",
    (nonsense) => {
      expect(() => readForm(fieldsOf(nonsense), {})).not.toThrow();
    },
  );
});

describe("what is to be started", () => {
  test("is read from YAML", async () => {
    const body = await bodyOf({
      ...EMPTY,
      plan: "title: T\nsteps:\n  - {id: a, tool: wait}",
      inputs: "n: 1",
      steps: "9",
    });
    expect(body).toMatchObject({
      plan: { title: "T", steps: [{ id: "a", tool: "wait" }] },
      inputs: { n: 1 },
      budget: { steps: 9 },
      mode: "hitl",
    });
  });

  test.each([
    [{ plan: "" }, "plan"],
    [{ plan: "a: [" }, "plan"],
    [{ plan: "[1]" }, "plan"],
    [{ plan: "a: 1", inputs: "x" }, "inputs"],
    [{ plan: "a: 1", usd: "-1" }, "usd"],
    [{ what: "workflow" as const }, "workflow"],
  ])("is refused with the place where %j does not fit", async (part, place) => {
    await expect(bodyOf({ ...EMPTY, ...part })).rejects.toMatchObject({ place });
  });

  test("does not follow an alias bomb", async () => {
    const bomb = [
      "a: &a [1,1,1,1,1,1,1,1,1]",
      ...[..."bcdefgh"].map((name, n) => `${name}: &${name} [${Array(9).fill(`*${"abcdefg"[n]}`)}]`),
    ];
    await expect(bodyOf({ ...EMPTY, plan: bomb.join("\n") })).rejects.toMatchObject({ place: "plan" });
  });
});

test("a rule is told on one line", () => {
  expect(ruleInWords({ verdict: "allow", tool: "files.*", path: "docs/**", risk: "high" })).toBe(
    "allow tool files.*, path docs/**, risk high or higher",
  );
});
