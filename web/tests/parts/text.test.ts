import { describe, expect, test } from "vitest";
import { isDiff } from "@/parts/Diff";
import { duration, relative, timeLeft } from "@/parts/time";
import { mixedWords, visible, visibleLine } from "@/parts/visible";

describe("text from strangers", () => {
  test.each([
    ["rm \u202egnp.txt", "rm <U+202E>gnp.txt"],
    ["a\u200bb", "a<U+200B>b"],
    ["\u001b[31mred", "<U+001B>[31mred"],
    ["tag\u{e0041}", "tag<U+E0041>"],
    ["plain ☃ text", "plain ☃ text"],
  ])("%j is shown as %j", (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test("keeps its line breaks in a block and loses them on a line", () => {
    expect(visible("a\r\n\tb")).toBe("a\n\tb");
    expect(visibleLine("a\n\tb")).toBe("a  b");
  });

  test("is suspicious where a word mixes alphabets", () => {
    expect(mixedWords("open p\u0430ypal.com and Москва")).toEqual(["p\u0430ypal.com"]);
    expect(mixedWords("open paypal.com")).toEqual([]);
  });
});

describe("times", () => {
  test.each([
    [0.0004, "0 ms"],
    [0.34, "340 ms"],
    [4.21, "4.2 s"],
    [75, "75 s"],
    [180, "3 min"],
    [7_500, "2 h 5 min"],
    [260_000, "3 d"],
  ])("%d seconds are %s", (seconds, words) => {
    expect(duration(seconds)).toBe(words);
  });

  test("are told from now", () => {
    const now = Date.parse("2026-03-01T12:00:00Z");
    expect(relative("2026-03-01T11:56:00Z", now)).toBe("4 min ago");
    expect(relative("2026-03-01T14:00:00Z", now)).toBe("in 2 h");
    expect(relative("2026-03-01T11:59:58Z", now)).toBe("just now");
    expect(relative("nonsense", now)).toBe("");
  });

  test("that are left come with their interval", () => {
    expect(timeLeft(60, 120, 240)).toBe("about 2 min left (60 s–4 min)");
    expect(timeLeft(100, 120, 240)).toBe("about 2 min left (2–4 min)");
    expect(timeLeft(100, 120, 121)).toBe("about 2 min left");
    expect(timeLeft(null, 20, null)).toBe("about 20 s left");
    expect(timeLeft(null, null, null)).toBeNull();
  });
});

test("a unified diff is known by its signs", () => {
  expect(isDiff("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y")).toBe(true);
  expect(isDiff("- a list\n- of things")).toBe(false);
});
