import { lazy, Suspense, useId } from "react";
import { visibleLine } from "@/parts/visible";
import type { Colour, Plotted } from "./plots";

const Plot = lazy(() => import("./Plot"));
const DOTS: Record<Colour, string> = {
  accent: "bg-accent",
  live: "bg-live",
  ok: "bg-ok",
  warn: "bg-warn",
  bad: "bg-bad",
  muted: "bg-muted",
};

/** A plot with what its colours mean; the numbers themselves are in a table below it. */
export function Figure({ plot }: { plot: Plotted }) {
  const title = useId();
  return (
    <figure
      aria-labelledby={title}
      className="grid min-w-0 content-start gap-2 rounded-lg border bg-panel p-3"
    >
      <figcaption>
        <h2 id={title} className="font-medium">
          {plot.title}
        </h2>
        <p className="text-xs text-muted">{plot.about}</p>
      </figcaption>
      {plot.series.length > 1 ? (
        <p aria-hidden="true" className="flex flex-wrap gap-x-3 text-xs">
          {plot.series.map(({ label, colour }) => (
            <span key={label} className="inline-flex items-center gap-1">
              <span className={`size-2.5 rounded-sm ${DOTS[colour]}`} />
              {label}
            </span>
          ))}
        </p>
      ) : null}
      <Suspense fallback={<div className="h-[220px]" />}>
        <Plot plot={plot} />
      </Suspense>
      <details>
        <summary className="cursor-pointer text-xs text-muted">As a table</summary>
        <Table plot={plot} />
      </details>
    </figure>
  );
}

function Table({ plot }: { plot: Plotted }) {
  return (
    <table className="mt-1 w-full text-xs">
      <caption className="sr-only">{plot.title}</caption>
      <thead className="border-b text-muted">
        <tr>
          <th className="py-1 text-left font-medium">{plot.of}</th>
          {plot.series.map(({ label }) => (
            <th key={label} className="py-1 text-right font-medium">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="divide-y divide-line/60">
        {plot.rows.map((row, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a day may have an hour twice
          <tr key={`${row}-${place}`}>
            <th scope="row" className="py-0.5 text-left font-mono font-normal break-all">
              {visibleLine(row)}
            </th>
            {plot.series.map(({ label, values }) => {
              const value = values[place];
              return (
                <td key={label} className="py-0.5 text-right font-mono">
                  {value == null ? "–" : plot.words(value)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
