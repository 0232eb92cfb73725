import { describe, expect, test } from "vitest";
import { callOf, lineOf, linesNaming, type Script, scriptsOf } from "@/session/script";

const script = (text: string): Script => ({ text, language: "javascript" });
const SOURCE = script(
  `const names = ["a", "b"];
const sizes = await Promise.all(names.map((path) => tools.files.read({path})));
await tools . notify({target: "team"});
if (await human.ask("Sure?")) await tools.files.write({path: "c"});
await tools.files.write({path: "d"});`,
);

describe("a key", () => {
  test.each([
    ["it/script/3", { step: "it", number: 3 }],
    ["it#2/script/12", { step: "it#2", number: 12 }],
    ["#gate/it/script/5/1", { step: "it", number: 5 }],
    ["it/script/4/call", { step: "it", number: 4 }],
  ])("%s is that of a call", (key, call) => {
    expect(callOf(key)).toEqual(call);
  });

  test.each(["it", "it/script", "it/script/now", "it/script/settled#2", "it/failure", "#gate/it/1", ""])(
    "%s is not",
    (key) => {
      expect(callOf(key)).toBeNull();
    },
  );
});

describe("the line of a call", () => {
  test("is told where only one can be meant", () => {
    expect(lineOf(SOURCE, "files.read")).toBe(2);
    expect(lineOf(SOURCE, "notify")).toBe(3);
    expect(lineOf(SOURCE, "human.ask")).toBe(4);
  });

  test("is not told where there are several, though each of them is", () => {
    expect(lineOf(SOURCE, "files.write")).toBeNull();
    expect(linesNaming(SOURCE, "files.write")).toEqual([4, 5]);
  });

  test("is not told where the tool may go by another name", () => {
    const aliased = script("const {read} = tools.files;\nawait read({});\nawait tools.files.read({});");
    expect(lineOf(aliased, "files.read")).toBeNull();
    expect(lineOf(script("const t = tools.files;\nawait t.read({});"), "files.read")).toBeNull();
    expect(lineOf(script("await tools.files.reader({});"), "files.read")).toBeNull();
  });
});

test("the scripts of a plan are found by their steps, whatever else stands there", () => {
  const plan = {
    steps: [
      { id: "a", tool: "code", params: { source: "1", language: "python" } },
      { id: "b", tool: "code", params: {} },
      { id: "c", tool: "shell.run", params: { source: "x" } },
      "d",
      null,
    ],
  };
  expect([...scriptsOf({ plan })]).toEqual([["a", { text: "1", language: "python" }]]);
  for (const input of [null, "x", { plan: 1 }, { plan: { steps: {} } }])
    expect(scriptsOf(input).size).toBe(0);
});
