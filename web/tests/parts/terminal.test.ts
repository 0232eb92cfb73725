import { describe, expect, test } from "vitest";
import { linesOf, terminalLine } from "@/parts/terminal";

const ESC = "\u001b";
const textOf = (line: string) =>
  terminalLine(line)
    .pieces.map(({ text }) => text)
    .join("");

describe("a line for a terminal", () => {
  test("is told in pieces with their colours and weights", () => {
    const { pieces } = terminalLine(`${ESC}[1;31mFAILED${ESC}[0m test_a ${ESC}[2m[4%]${ESC}[22m end`);
    expect(pieces.map(({ text, ink, isBold, isDim }) => [text, ink, isBold, isDim])).toEqual([
      ["FAILED", "red", true, false],
      [" test_a ", null, false, false],
      ["[4%]", null, false, true],
      [" end", null, false, false],
    ]);
  });

  test.each([
    ["38;5;208", "yellow"],
    ["38;5;9", "red"],
    ["38;5;240", "grey"],
    ["38;5;255", null],
    ["38;2;0;200;10", "green"],
    ["38:2:30:30:255", "blue"],
    ["94", "blue"],
    ["37", null],
    ["32;39", null],
    ["48;5;196", null],
    ["48;2;255;0;0;32", "green"],
  ])("with the colour %s is shown in %s, whatever its ground", (code, ink) => {
    expect(terminalLine(`${ESC}[${code}mx`).pieces[0]?.ink).toBe(ink);
  });

  test.each([
    ["moves and wipes", `a${ESC}[2Jb${ESC}[10;3Hc${ESC}[Kd`, "abcd"],
    ["a hidden text", `${ESC}[8mpassword${ESC}[28m!`, "password!"],
    ["a link", `${ESC}]8;;https://evil.example.org${ESC}\\here${ESC}]8;;${ESC}\\ it is`, "here it is"],
    ["a title", `${ESC}]0;title\u0007text`, "text"],
    ["a title without an end", `${ESC}]0;rm -rf / and more`, "0;rm -rf / and more"],
    ["a colour without an end", `a${ESC}[31`, "a31"],
  ])("keeps every other word of %s", (_what, line, text) => {
    expect(textOf(line)).toBe(text);
  });

  test("that was written over stands as it stood at last, and says how often that was", () => {
    expect(terminalLine("10 %\r50 %\r100 %")).toMatchObject({ pieces: [{ text: "100 %" }], rewritten: 2 });
    expect(terminalLine("100 %\r")).toMatchObject({ pieces: [{ text: "100 %" }], rewritten: 0 });
  });

  test("loses nothing else for being full of orders that never end", () => {
    expect(textOf(`${ESC}]`.repeat(50_000))).toBe("");
    expect(textOf(`${ESC}[`.repeat(50_000)).length).toBeLessThanOrEqual(50_000);
  });
});

test("the lines of a text do not begin another at its end", () => {
  expect(linesOf("a\nb\n")).toEqual(["a", "b"]);
  expect(linesOf("a\r\n\r\nb")).toEqual(["a", "", "b"]);
  expect(linesOf("")).toEqual([]);
});
