/** Text from models, tools and strangers, made fit to be shown: nothing in it hides, or turns other text around. */

// Control, format (bidi, zero-width, tags), surrogates, unassigned, private use, separators, letters that draw nothing.
const UNSEEN =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: combining letters are what it looks for
  /[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Co}\p{Zl}\p{Zp}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\uffa0\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** The text with its own line breaks and tabs; what cannot be seen as itself is shown by its number. */
export function visible(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(UNSEEN, (letter) => (letter === "\n" || letter === "\t" ? letter : numbered(letter)));
}

/** The text on one line. */
export function visibleLine(text: string): string {
  return text.replace(UNSEEN, (letter) => (letter === "\n" || letter === "\t" ? " " : numbered(letter)));
}

/** Words that mix alphabets, as a look-alike of a known name would. */
export function mixedWords(text: string): string[] {
  const words = text.match(/[\p{L}\p{N}_.-]+/gu) ?? [];
  return [...new Set(words.filter((word) => /\p{Script=Latin}/u.test(word) && FOREIGN.test(word)))];
}

const FOREIGN = /\p{Script=Cyrillic}|\p{Script=Greek}|\p{Script=Armenian}|\p{Script=Cherokee}/u;

/** Any value as a person can read it: a text as it is, anything else as JSON. */
export function readable(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

function numbered(letter: string): string {
  return `<U+${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}>`;
}
