import { describe, expect, test } from "vitest";
import { lineForShell, quoted, readPreview } from "@/panels/requests/previews/previews";

const COMMAND = { argv: ["ls"], folder: "/w", env: {}, hosts: [], sandbox: "bubblewrap" };
const LETTER = { from: "a@b.org", to: ["c@d.org"], subject: "Hi", text: "Hello", attachments: [] };
const FILE = { path: "a/b.txt", name: "b.txt", content_type: "text/plain", bytes: 3, sha256: "00" };

describe("a preview", () => {
  test("of each known kind is read", () => {
    expect(readPreview(COMMAND)?.kind).toBe("command");
    expect(readPreview({ ...LETTER, attachments: [FILE] })?.kind).toBe("letter");
    expect(readPreview({ target: "team", kind: "slack", level: "info", text: "Hi" })?.kind).toBe("notice");
    expect(readPreview({ page: "https://a.org/", element: "Order" })?.kind).toBe("page");
  });

  test.each([
    ["a member that no face shows", { ...COMMAND, as_root: true }],
    ["a word that is no text", { ...COMMAND, argv: ["ls", 1] }],
    ["a variable that is no text", { ...COMMAND, env: { A: 1 } }],
    ["no words", { ...COMMAND, argv: undefined }],
    ["a letter with more than is shown", { ...LETTER, also_to: ["x@y.org"] }],
    ["an attachment with more than is shown", { ...LETTER, attachments: [{ ...FILE, link: "x" }] }],
    ["attachments that are no list", { ...LETTER, attachments: "a" }],
    ["a page that is not known", { page: null, why: "several pages" }],
    ["a text", "--- a\n+++ b"],
    ["nothing", null],
  ])("with %s is left to be shown as it stands", (_what, preview) => {
    expect(readPreview(preview)).toBeNull();
  });
});

describe("the words of a command", () => {
  test("are the line itself where a shell reads it", () => {
    expect(lineForShell(["/bin/sh", "-c", "a | b"])).toBe("a | b");
    expect(lineForShell(["/bin/sh", "-c", "a", "b"])).toBeNull();
    expect(lineForShell(["sh", "-c", "a"])).toBeNull();
  });

  test("are quoted so that one sees where each begins and ends", () => {
    expect(quoted(["curl", "-H", "X: a b", "", "it's", "a&b"])).toBe("curl -H 'X: a b' '' 'it'\\''s' 'a&b'");
  });
});
