/** Times and durations in words. Pure: they are told what time it is. */

/** 340 ms, 4.2 s, 3 min, 2 h 5 min, 3 d. */
export function duration(seconds: number): string {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 ? `${hours} h ${minutes % 60} min` : `${hours} h`;
  return `${Math.round(hours / 24)} d`;
}

/** just now, 4 min ago, in 2 h. */
export function relative(at: string, now: number): string {
  const seconds = (now - Date.parse(at)) / 1000;
  if (!Number.isFinite(seconds)) return "";
  if (Math.abs(seconds) < 5) return "just now";
  return seconds > 0 ? `${coarse(seconds)} ago` : `in ${coarse(-seconds)}`;
}

export function absolute(at: string): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return at;
  return `${date.toLocaleString()} (${date.toISOString()})`;
}

/** about 2 min left (1–4), or null where the past does not suffice. */
export function timeLeft(low: number | null, mid: number | null, high: number | null): string | null {
  if (mid === null) return null;
  const about = `about ${coarse(mid)} left`;
  if (low === null || high === null) return about;
  const [from, to] = [coarse(low), coarse(high)];
  if (from === to) return about;
  return unitOf(from) === unitOf(to) ? `${about} (${from.split(" ")[0]}–${to})` : `${about} (${from}–${to})`;
}

function coarse(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

const unitOf = (words: string) => words.split(" ")[1];
