import { describe, expect, test } from "vitest";
import { badExit, readGave, readGiven } from "@/panels/timeline/outcomes";

const RAN = { exit_code: 2, stdout: "a\n", stderr: "", left_out: 9, cpu_seconds: 0.1, peak_bytes: 5 };

describe("what a step gave", () => {
  test("is a command's output where it has one", () => {
    expect(readGave("shell.run", RAN)).toMatchObject({ kind: "ran", exitCode: 2, stdout: "a\n", leftOut: 9 });
    expect(readGave("shell.read", { status: "running", text: "x", lost: 3 })).toMatchObject({
      kind: "job",
      lost: 3,
      exitCode: null,
    });
    expect(readGave("code", { value: 1, output: "x", calls: 2 })).toMatchObject({ kind: "scriptEnded" });
  });

  test.each([
    ["another tool's", "http_fetch", RAN],
    ["a command's without output", "shell.start", { job: "j", status: "running" }],
    ["no object", "shell.run", "text"],
    ["a script's of another shape", "code", { value: 1 }],
  ])("is shown as it is recorded if it is %s", (_what, tool, output) => {
    expect(readGave(tool, output)).toBeNull();
  });
});

describe("what a step was given", () => {
  test("is a script with all that comes with it", () => {
    expect(readGiven("code", { source: "1", language: "python", tools: ["a"] })).toEqual({
      kind: "script",
      script: { text: "1", language: "python" },
      rest: { tools: ["a"] },
    });
  });

  test("is a bare command only if there is nothing else to it", () => {
    expect(readGiven("shell.run", { command: "ls" })).toEqual({ kind: "command", command: "ls" });
    expect(readGiven("shell.run", { command: "ls", env: { A: "1" } })).toBeNull();
    expect(readGiven("everything.run", { command: "ls" })).toBeNull();
  });
});

test("an exit code counts as bad only if it is a command's and not zero", () => {
  expect(badExit("shell.run", RAN)).toBe(2);
  expect(badExit("shell.run_online", { exit_code: 0 })).toBeNull();
  expect(badExit("shell.stop", { exit_code: 143 })).toBeNull();
  expect(badExit("mine", { exit_code: 1 })).toBeNull();
});
