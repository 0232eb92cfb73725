import { describe, expect, test } from "vitest";
import { bytes, percent, usd } from "@/parts/amounts";
import { hunksOf, patchOf, sizeOf } from "@/parts/patch";
import { coloured } from "@/parts/syntax";

const DIFF = [
  "--- a/x.py",
  "+++ b/x.py",
  "@@ -1,3 +1,3 @@ def f():",
  " one",
  "-two",
  "+zwei",
  "--- not a header",
  "@@ -9 +9 @@",
  "+last",
  "\\ No newline at end of file",
  "",
].join("\n");

describe("a unified diff", () => {
  test("comes apart into hunks whose lines know their numbers", () => {
    const [first, second] = hunksOf(DIFF);
    expect(first?.lines).toEqual([
      { kind: "same", text: "one", before: 1, after: 1 },
      { kind: "removed", text: "two", before: 2, after: null },
      { kind: "added", text: "zwei", before: null, after: 2 },
      { kind: "removed", text: "-- not a header", before: 3, after: null },
    ]);
    expect(second?.lines.map((line) => [line.kind, line.after])).toEqual([
      ["added", 9],
      ["note", null],
    ]);
  });

  test("is the same again when all of it is put together", () => {
    expect(patchOf("x.py", hunksOf(DIFF))).toBe(DIFF);
    expect(sizeOf(hunksOf(DIFF))).toEqual({ added: 2, removed: 2 });
  });

  test.each(["", "no diff at all", "@@ odd @@\n+x"])("%j has no hunks", (text) => {
    expect(hunksOf(text)).toEqual([]);
  });
});

describe("the colours of a line", () => {
  const kinds = (line: string, path: string) =>
    coloured(line, path)
      .filter((piece) => piece.kind !== "plain")
      .map((piece) => `${piece.kind}:${piece.text}`);

  test("know words, texts, numbers and comments", () => {
    expect(kinds('    return f("a # b", 42)  # why', "a.py")).toEqual([
      "keyword:return",
      'text:"a # b"',
      "number:42",
      "comment:# why",
    ]);
    expect(kinds("const x = 'a // b'; // why", "a.ts")).toEqual([
      "keyword:const",
      "text:'a // b'",
      "comment:// why",
    ]);
  });

  test.each(['say("it', "\\'\"`", "a".repeat(5_000), "# x // y /* z", ""])("lose nothing of %j", (line) => {
    for (const path of ["a.py", "b.ts", "c.md", "Makefile"]) {
      expect(
        coloured(line, path)
          .map((piece) => piece.text)
          .join(""),
      ).toBe(line);
    }
  });

  test("leave prose alone", () => {
    expect(kinds("if this is not it", "README.md")).toEqual([]);
  });
});

test("amounts are told in words", () => {
  expect(percent(0.99999)).toBe("99.9 %");
  expect(percent(1)).toBe("100 %");
  expect(percent(null)).toBe("–");
  expect(bytes(812)).toBe("812 B");
  expect(bytes(4_200)).toBe("4.2 kB");
  expect(bytes(1.3e9)).toBe("1.3 GB");
  expect(usd(0.0123)).toBe("$0.0123");
  expect(usd(12)).toBe("$12.00");
});
