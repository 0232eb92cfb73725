import { describe, expect, test } from "vitest";
import { Story } from "@/session/story";
import type { Envelope } from "@/wire/types";
import { begun, event, step } from "../support/events";

const rows = (story: Story) =>
  Array.from({ length: story.length }, (_, index) => story.row(index)).map((row) => [
    row?.head.seq,
    row?.last.seq,
  ]);

function told(...events: Envelope[]): Story {
  const story = new Story();
  story.append(events);
  return story;
}

describe("a story", () => {
  test("has a step in one row from its beginning to its end", () => {
    const story = told(
      begun(),
      step(2, "a", "running"),
      step(3, "b", "running"),
      step(4, "a", "completed", 1),
    );
    expect(rows(story)).toEqual([
      [1, 1],
      [2, 4],
      [3, 3],
    ]);
  });

  test("leaves out turns taken and recorded values", () => {
    const now = event(3, "step", { key: "now", name: "now", status: "completed" });
    expect(rows(told(begun(), event(2, "session", { status: "running" }), now))).toEqual([[1, 1]]);
  });

  test("has the calls of a script, and leaves out what it only notes", () => {
    const noted = ["it/script/settled", "it/script/settled#2", "it/script/2/call", "it/script"].map(
      (key, index) => event(index + 3, "step", { key, name: "noted", status: "completed", seconds: 0 }),
    );
    const story = told(
      begun(),
      step(2, "it/script/1", "completed", 1),
      ...noted,
      step(7, "it", "completed", 1),
    );
    expect(rows(story)).toEqual([
      [1, 1],
      [2, 2],
      [7, 7],
    ]);
  });

  test("keeps a step of a script that failed, whatever its key", () => {
    const failed = step(2, "it/script", "failed", 1);
    expect(rows(told(begun(), failed))).toEqual([
      [1, 1],
      [2, 2],
    ]);
  });

  test("told in full has every event in a row of its own", () => {
    const story = told(
      begun(),
      event(2, "session", { status: "running" }),
      step(3, "a", "running"),
      step(4, "a", "completed", 1),
    );
    expect(story.retold(true).length).toBe(4);
    expect(story.retold(true).retold(false).length).toBe(2);
  });

  test("says how many rows older events add, and joins a step that began in them", () => {
    const story = told(step(3, "a", "completed", 1), step(4, "b", "running"));
    expect(story.prepend([begun(), step(2, "a", "running")])).toBe(1);
    expect(rows(story)).toEqual([
      [1, 1],
      [2, 3],
      [4, 4],
    ]);
  });

  test("marks what a rewind left behind", () => {
    const rewind = event(4, "session", { status: "paused", rewound_to: 2 });
    const story = told(
      begun(),
      step(2, "a", "completed", 1),
      step(3, "b", "completed", 1),
      rewind,
      step(5, "b", "running"),
    );
    expect([0, 1, 2, 3, 4].map((index) => story.row(index)?.isLeftBehind)).toEqual([
      false,
      false,
      true,
      false,
      false,
    ]);
  });

  test("begins a new row for a step that is taken again after a rewind", () => {
    const rewind = event(3, "session", { status: "paused", rewound_to: 1 });
    const story = told(
      begun(),
      step(2, "a", "running"),
      rewind,
      step(4, "a", "running"),
      step(5, "a", "completed", 1),
    );
    expect(rows(story)).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 5],
    ]);
  });

  test("finds the row of any event", () => {
    const story = told(
      begun(),
      step(2, "a", "running"),
      step(3, "b", "running"),
      step(4, "a", "completed", 1),
    );
    expect([1, 2, 3, 4].map((seq) => story.indexOf(seq))).toEqual([0, 1, 2, 1]);
  });

  test("ignores an event that it has", () => {
    const story = told(begun(), step(2, "a", "running"));
    story.append([step(2, "a", "running")]);
    expect(story.length).toBe(2);
  });
});
