import { expect, test } from "vitest";
import { NOTHING_PASSING, withFrame, withoutTold } from "@/session/passing";
import type { PassingFrame } from "@/wire/types";
import { step } from "../support/events";

const line = (text: string): PassingFrame => ({
  seq: null,
  after: 1,
  type: "log",
  data: { text, step: "a" },
});

test("the last lines of a step are kept, and the others counted", () => {
  let passing = NOTHING_PASSING;
  for (let number = 1; number <= 2_003; number++) passing = withFrame(passing, line(`line ${number}`));
  const printed = passing.output.get("a");
  expect([printed?.before, printed?.lines.length]).toEqual([3, 2_000]);
  expect([printed?.lines[0], printed?.lines.at(-1)]).toEqual(["line 4", "line 2003"]);
});

test("a text of several lines counts as several", () => {
  expect(withFrame(NOTHING_PASSING, line("a\nb")).output.get("a")?.lines).toEqual(["a", "b"]);
});

test("what a step printed is gone once its result is there", () => {
  const passing = withFrame(NOTHING_PASSING, line("a"));
  expect(withoutTold(passing, step(2, "a", "running")).output.size).toBe(1);
  expect(withoutTold(passing, step(3, "a", "completed", 1)).output.size).toBe(0);
});
