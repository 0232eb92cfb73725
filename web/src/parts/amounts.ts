/** Amounts in words. Pure. */

/** 98.7 %, never rounded up to all of them; a share that nobody knows is a dash. */
export function percent(share: number | null | undefined): string {
  return share == null ? "–" : `${Math.floor(share * 1000) / 10} %`;
}

export const count = (value: number) => value.toLocaleString();

export const usd = (value: number) => `$${value.toFixed(value !== 0 && value < 1 ? 4 : 2)}`;

/** 812 B, 4.2 kB, 1.3 GB. */
export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
  const scaled = value / 1000 ** power;
  return `${power === 0 ? scaled : scaled.toFixed(1)} ${units[power]}`;
}
