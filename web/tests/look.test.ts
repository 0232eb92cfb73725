/** Every pair of text and ground that the page uses has the contrast that WCAG AA asks for, in both themes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

const CSS = readFileSync(join(import.meta.dirname, "../src/app.css"), "utf8");
const PAIRS = [
  ...["ink", "muted", "accent", "ok", "warn", "bad", "live"].flatMap((text) =>
    ["ground", "panel", "raised"].map((ground) => [text, ground] as const),
  ),
  ...["ok", "warn", "bad", "live", "accent"].flatMap((tone) => [
    [tone, `${tone}-soft`] as const,
    ["ink", `${tone}-soft`] as const,
  ]),
  ["accent-ink", "accent"] as const,
  ...["ink", "muted", "code-keyword", "code-text", "code-number", "code-comment"].flatMap((text) =>
    ["panel", "ok-soft", "bad-soft"].map((ground) => [text, ground] as const),
  ),
];

describe.each([":root", '[data-theme="dark"]'])("%s", (selector) => {
  const colours = coloursOf(selector);
  test.each(PAIRS)("%s on %s can be read", (text, ground) => {
    expect(contrast(colours[text] ?? "", colours[ground] ?? "")).toBeGreaterThanOrEqual(4.5);
  });
});

function coloursOf(selector: string): Record<string, string> {
  const start = CSS.indexOf(`\n${selector} {`);
  const block = CSS.slice(start, CSS.indexOf("}", start));
  return Object.fromEntries(
    [...block.matchAll(/--([a-z-]+): (#[0-9a-f]{6});/g)].map((found) => [found[1], found[2]]),
  );
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
