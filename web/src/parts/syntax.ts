/** Colours for a line of code: words that most languages have in common, no more. Pure; each line by itself. */

export type Piece = { kind: "keyword" | "text" | "number" | "comment" | "plain"; text: string };

const WORDS =
  "abstract and as assert async await bool boolean break case catch class const continue def default del do elif else enum except export extends false False final finally fn for foreach from func function global if implements import in int interface is lambda let match mut namespace new nil None nonlocal not null or override package pass private protected public raise readonly record return self static string struct super switch this throw throws trait true True try type typeof using val var virtual void while with yield";
const KEYWORDS = new Set(WORDS.split(" "));
const HASHED = new Set([
  "py",
  "pyi",
  "rb",
  "sh",
  "bash",
  "yml",
  "yaml",
  "toml",
  "cfg",
  "ini",
  "mk",
  "Dockerfile",
]);
const PROSE = new Set(["md", "txt", "rst", "csv", "lock", "json"]);
const LONGEST = 2_000;

const TEXT = `"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*'|\`(?:[^\`\\\\]|\\\\.)*\``;
const REST = String.raw`\b\d[\w.]*\b|[A-Za-z_$][\w$]*`;
const WITH_HASH = new RegExp(`(#.*$)|(${TEXT})|(${REST})`, "g");
const WITH_SLASHES = new RegExp(String.raw`(\/\/.*$|\/\*.*?(?:\*\/|$)|^\s*\*.*$)|(${TEXT})|(${REST})`, "g");

/** The line in pieces that add up to it. */
export function coloured(line: string, path: string): Piece[] {
  const ending = path.slice(path.lastIndexOf(path.includes(".") ? "." : "/") + 1);
  if (PROSE.has(ending) || line.length > LONGEST) return [{ kind: "plain", text: line }];
  const pieces: Piece[] = [];
  let at = 0;
  for (const found of line.matchAll(HASHED.has(ending) ? WITH_HASH : WITH_SLASHES)) {
    if (found.index > at) pieces.push({ kind: "plain", text: line.slice(at, found.index) });
    pieces.push({ kind: kindOf(found), text: found[0] });
    at = found.index + found[0].length;
  }
  if (at < line.length) pieces.push({ kind: "plain", text: line.slice(at) });
  return pieces;
}

function kindOf([whole, comment, text]: RegExpExecArray): Piece["kind"] {
  if (comment !== undefined) return "comment";
  if (text !== undefined) return "text";
  if (/^\d/.test(whole)) return "number";
  return KEYWORDS.has(whole) ? "keyword" : "plain";
}
