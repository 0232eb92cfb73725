import { expect, test } from "vitest";
import { changeInWords, changeOf, stagesOf } from "@/session/change";
import { readPlan, readSummary } from "@/wire/change";
import type { Envelope } from "@/wire/types";
import { event } from "../support/events";
import { recorded } from "../support/recorded";

const LOG = recorded("change.jsonl");
const upTo = (type: string) => LOG.slice(0, LOG.findIndex((one) => (one.type as string) === type) + 1);

test("a recorded change goes through every stage", () => {
  expect(stagesOf(changeOf(LOG)).map(({ told }) => told?.status)).toEqual(Array(8).fill("completed"));
});

test("stages that have not begun are to come", () => {
  const stages = stagesOf(changeOf(upTo("approval_request")));
  expect(stages.map(({ told }) => told?.status)).toEqual([
    ...Array(3).fill("completed"),
    "running",
    ...Array(4).fill(undefined),
  ]);
});

test("the last word on a file and on a test counts", () => {
  const { files, tests } = changeOf(LOG);
  expect(files.map((file) => file.path)).toEqual(["src/tool/options.py", "src/tool/main.py", "README.md"]);
  expect(files[1]?.diff).toContain("warm_up");
  expect(tests.map((one) => one.status)).toEqual(["passed", "passed", "skipped"]);
});

test("what a rewind left behind does not count", () => {
  const before = upTo("approval_request");
  const rewound = event(LOG.length + 1, "session", { status: "paused", rewound_to: before.length });
  expect(changeOf([...LOG, rewound])).toEqual(changeOf(before));
});

test("what cannot be read is left out", () => {
  const odd = (type: string, data: unknown, stage: string | null = null) =>
    ({ ...LOG[0], type, data, stage }) as unknown as Envelope;
  const change = changeOf([
    odd("status", { status: "dancing" }, "testing"),
    odd("status", { status: "completed" }, "no such stage"),
    odd("code_change", { path: 7 }),
    odd("test_result", null),
    odd("approval_request", { shown: "a text" }, "planning"),
  ]);
  expect(change).toMatchObject({ files: [], tests: [], plan: null, summary: null });
  expect(change.stages.get("testing")).toEqual({ status: "running", text: "" });
});

test.each(["javascript:alert(1)", "data:text/html,x", "not an address", 7, null])(
  "%s is no link to a pull request",
  (url) => {
    expect(readSummary({ pull_request: { url } }).link).toBeNull();
    expect(readSummary({ pull_request: url }).link).toBeNull();
  },
);

test("an edge to a module that nobody named is left out, and a module named twice is there once", () => {
  const modules = [{ name: "a" }, { name: "a", distance: 1 }, { name: "b", distance: 2, test: true }];
  const edges = [["a", "b"], ["a", "ghost"], "odd", null];
  expect(readPlan({ tasks: [], impact: { modules, edges } })?.impact).toEqual({
    risk: "",
    modules: [
      { name: "a", distance: 1, isTest: false },
      { name: "b", distance: 2, isTest: true },
    ],
    edges: [["a", "b"]],
  });
});

test("files and tests are told on one line", () => {
  expect(changeInWords("code_change", { path: "a.py", diff: "" })).toBe("Changed a.py");
  expect(changeInWords("test_result", { name: "t", status: "failed" })).toBe("t failed");
  expect(changeInWords("test_result", { name: "t" })).toBeNull();
  expect(changeInWords("log", { path: "a.py", diff: "" })).toBeNull();
});
