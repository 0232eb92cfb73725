/**
 * What a program wrote for a terminal, as pieces with a look. Pure; each line by itself.
 * Only colours, weights and a line begun anew are obeyed; no other order of a program can hide or move its words.
 */

export type Ink = "red" | "green" | "yellow" | "blue" | "magenta" | "cyan" | "grey";
export type Look = { ink: Ink | null; isBold: boolean; isDim: boolean; isUnderlined: boolean };
export type Piece = Look & { text: string };
/** A line as it stands at last, and how often it was begun anew before (a progress bar does that). */
export type TerminalLine = { pieces: readonly Piece[]; rewritten: number };

export function terminalLine(raw: string): TerminalLine {
  const states = raw.split("\r").filter((state, place) => place === 0 || state !== "");
  return { pieces: piecesOf(states.at(-1) ?? ""), rewritten: states.length - 1 };
}

/** The lines of a text; the end of the last one is not the beginning of another. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  return text.replace(/\r?\n$/, "").split(/\r?\n/);
}

const PLAIN: Look = { ink: null, isBold: false, isDim: false, isUnderlined: false };
// In this order: a colour or another order of its kind, a title or link with its end, and whatever else begins so.
const ORDERS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
  /\u001b\[([0-?]*)[ -/]*([@-~])|\u001b[\]P^_X][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b[ -/]*[0-~]/g;

function piecesOf(line: string): Piece[] {
  const pieces: Piece[] = [];
  let look = PLAIN;
  let at = 0;
  const add = (text: string) => {
    if (text !== "") pieces.push({ ...look, text });
  };
  for (const order of line.matchAll(ORDERS)) {
    add(line.slice(at, order.index));
    at = order.index + order[0].length;
    if (order[2] === "m") look = changed(look, numbersOf(order[1] ?? ""));
  }
  add(line.slice(at));
  return pieces;
}

const numbersOf = (text: string) => text.split(/[;:]/).map((part) => Number.parseInt(part, 10) || 0);

const INKS: readonly (Ink | null)[] = ["grey", "red", "green", "yellow", "blue", "magenta", "cyan", null];

function changed(before: Look, numbers: readonly number[]): Look {
  let look = before;
  for (let place = 0; place < numbers.length; place++) {
    const number = numbers[place] ?? 0;
    if (number === 38 || number === 48) {
      const [ink, taken] = mixed(numbers.slice(place + 1));
      if (number === 38) look = { ...look, ink };
      place += taken;
    } else look = after(look, number);
  }
  return look;
}

function after(look: Look, number: number): Look {
  if (number >= 30 && number <= 37) return { ...look, ink: INKS[number - 30] ?? null };
  if (number >= 90 && number <= 97) return { ...look, ink: INKS[number - 90] ?? null };
  switch (number) {
    case 0:
      return PLAIN;
    case 1:
      return { ...look, isBold: true };
    case 2:
      return { ...look, isDim: true };
    case 4:
      return { ...look, isUnderlined: true };
    case 22:
      return { ...look, isBold: false, isDim: false };
    case 24:
      return { ...look, isUnderlined: false };
    case 39:
      return { ...look, ink: null };
    default:
      return look;
  }
}

/** A colour out of 256 or of millions, as the nearest that can be read on our grounds; and how many numbers it took. */
function mixed([kind, ...rest]: readonly number[]): [Ink | null, number] {
  if (kind === 5) return [ofTable(rest[0] ?? 0), 2];
  if (kind === 2) return [nearest(rest[0] ?? 0, rest[1] ?? 0, rest[2] ?? 0), 4];
  return [null, 0];
}

function ofTable(number: number): Ink | null {
  if (number < 16) return INKS[number % 8] ?? null;
  if (number >= 232) return number < 250 ? "grey" : null;
  const part = (by: number) => {
    const level = Math.floor((number - 16) / by) % 6;
    return level === 0 ? 0 : 55 + 40 * level;
  };
  return nearest(part(36), part(6), part(1));
}

const AROUND: readonly Ink[] = ["red", "yellow", "green", "cyan", "blue", "magenta"];

function nearest(red: number, green: number, blue: number): Ink | null {
  const [most, least] = [Math.max(red, green, blue), Math.min(red, green, blue)];
  if (most - least < 48) return most > 200 ? null : "grey";
  const across = most - least;
  const sixths =
    most === red
      ? (green - blue) / across
      : most === green
        ? 2 + (blue - red) / across
        : 4 + (red - green) / across;
  return AROUND[Math.round((sixths + 6) % 6) % 6] ?? null;
}
