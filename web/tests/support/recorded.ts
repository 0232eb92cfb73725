/** Logs under tests/fixtures, one envelope a line. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Envelope } from "@/wire/types";

export function recorded(name: string): Envelope[] {
  const text = readFileSync(join(import.meta.dirname, "../fixtures", name), "utf8");
  return text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
