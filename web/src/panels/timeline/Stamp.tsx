import { absolute } from "@/parts/time";

/** When it was, to the second, and the link that leads back here. */
export function Stamp({ seq, at }: { seq: number; at: string }) {
  return (
    <a
      href={`#event-${seq}`}
      title={`Event ${seq}, ${absolute(at)}`}
      className="shrink-0 font-mono text-xs text-muted hover:text-ink hover:underline"
    >
      <time dateTime={at}>{new Date(at).toLocaleTimeString([], { hour12: false })}</time>
    </a>
  );
}
