import { expect, test } from "vitest";
import { paramsIn } from "@/session/params";
import { NOTHING_PASSING, withFrame, withoutTold } from "@/session/passing";
import { keepSeen, lastSeen } from "@/session/seen";
import { sinceInWords } from "@/session/since";
import { inWords } from "@/session/words";
import type { Envelope, PassingFrame } from "@/wire/types";
import { begun, event, step } from "../support/events";

test("an event of a newer server is told as it is", () => {
  const newer = { ...begun(), type: "hologram", data: { depth: 3 } } as unknown as Envelope;
  expect(inWords(newer)).toBe('hologram {"depth":3}');
});

test("an event of a newer server that has a text is told by it", () => {
  const newer = { ...begun(), type: "status", data: { text: "Editing 3 files" } } as unknown as Envelope;
  expect(inWords(newer)).toBe("Editing 3 files");
});

test("a copy says that nothing of the original's leave is its own", () => {
  expect(inWords(event(2, "rehomed", { because: "fork", workspace: "/srv/own" }))).toBe(
    "A fork: nothing that was allowed to the original is allowed here; it works in /srv/own",
  );
  expect(inWords(event(2, "rehomed", { because: "import" }))).toContain("An imported copy");
});

test("what happened since one left is one sentence", () => {
  const events = [
    step(5, "a", "completed", 1),
    step(6, "b", "failed", 1),
    event(7, "request_input", { request_id: "r", key: "b", prompt: "?" }),
    event(8, "session", { status: "waiting" }),
  ];
  expect(sinceInWords(events, 4)).toBe("1 step done, 1 step failed, 1 question asked, now waiting.");
  expect(sinceInWords(events, 900)).toContain("in the last 4 of 900 events");
});

test("the parameters of a failed step are those of its last try", () => {
  const tried = (seq: number, key: string, input: unknown) =>
    event(seq, "step", { key, name: "t", status: "running", input });
  const events = [tried(1, "a", [{ n: 1 }]), tried(2, "a#2", [{ n: 2 }]), tried(3, "b", [{ n: 3 }])];
  expect(paramsIn(events, "a")).toEqual({ n: 2 });
  expect(paramsIn(events, "c")).toEqual({});
});

test("tokens add up until the event that has the whole of them", () => {
  const token = (text: string): PassingFrame => ({
    seq: null,
    after: 3,
    type: "token",
    data: { message: "a", text },
  });
  const written = withFrame(withFrame(NOTHING_PASSING, token("He")), token("llo"));
  expect(written.writing.get("a")).toBe("Hello");
  expect(withoutTold(written, step(4, "b", "completed", 1)).writing.size).toBe(1);
  expect(withoutTold(written, step(4, "a", "completed", 1)).writing.size).toBe(0);
  expect(withoutTold(written, event(4, "session", { status: "paused" })).writing.size).toBe(0);
});

test("a snapshot replaces what was written", () => {
  const snapshot: PassingFrame = {
    seq: null,
    after: 3,
    type: "snapshot",
    data: { messages: { a: "all of it" } },
  };
  expect(withFrame(NOTHING_PASSING, snapshot).writing.get("a")).toBe("all of it");
});

test("only the last two hundred sessions are remembered as seen", () => {
  for (let n = 0; n < 205; n++) keepSeen(`s${n}`, { seq: n, at: 0 });
  expect(lastSeen("s204")).toEqual({ seq: 204, at: 0 });
  expect(lastSeen("s4")).toBeNull();
});
