/** What the server's figures look like as plots and as tables. Pure: both are made of the same numbers. */
import { bytes, count, percent, usd } from "@/parts/amounts";
import { duration } from "@/parts/time";
import type { MetricsSummary, ToolSummary } from "@/wire/types";

export type Colour = "accent" | "live" | "ok" | "warn" | "bad" | "muted";
export type Series = { label: string; colour: Colour; values: readonly (number | null)[] };

/** Rows have names; the plot may show fewer of them than the table. */
export type Plotted = {
  title: string;
  about: string;
  /** What the rows are: hours, tools, statuses. */
  of: string;
  rows: readonly string[];
  series: readonly Series[];
  words: (value: number) => string;
  isLogarithmic?: boolean;
  /** Shares of one, so that the axis ends there. */
  isShare?: boolean;
};
export type Tile = { name: string; words: string };

const MOST_BARS = 12;
const LIVE = ["queued", "running", "waiting", "paused", "interrupted"] as const;

export function tilesOf(summary: MetricsSummary): Tile[] {
  const live = LIVE.reduce((sum, status) => sum + (summary.sessions[status] ?? 0), 0);
  return [
    { name: "live sessions", words: count(live) },
    { name: "wait for a person", words: count(summary.for_a_person) },
    { name: "calls", words: count(summary.calls) },
    { name: "succeeded", words: percent(summary.success_rate) },
    { name: "tokens", words: count(summary.tokens) },
    { name: "spent", words: usd(summary.usd) },
    { name: "events", words: count(summary.events) },
    { name: "in the store", words: bytes(summary.store_bytes) },
  ];
}

export function plotsOf(summary: MetricsSummary): Plotted[] {
  const used = summary.tools
    .filter((tool) => tool.calls)
    .sort((one, other) => (other.calls ?? 0) - (one.calls ?? 0));
  const plots = [hours(summary), statuses(summary), latency(used), success(used), tokens(used), cost(used)];
  return plots.filter((plot) => plot.rows.length > 0);
}

/** The first rows, as many as a plot has room for; hours are all of a day. */
export function drawn(plot: Plotted): Plotted {
  if (plot.of === "Hour" || plot.rows.length <= MOST_BARS) return plot;
  const series = plot.series.map((one) => ({ ...one, values: one.values.slice(0, MOST_BARS) }));
  return { ...plot, rows: plot.rows.slice(0, MOST_BARS), series };
}

function hours({ hours }: MetricsSummary): Plotted {
  const of = (name: "started" | "completed" | "failed" | "cancelled") => hours.map((hour) => hour[name]);
  return {
    title: "Sessions begun and ended",
    about: "For each of the last 24 hours",
    of: "Hour",
    rows: hours.map(({ at }) => hourOf(at)),
    series: [
      { label: "started", colour: "live", values: of("started") },
      { label: "completed", colour: "ok", values: of("completed") },
      { label: "failed", colour: "bad", values: of("failed") },
      { label: "cancelled", colour: "muted", values: of("cancelled") },
    ],
    words: count,
  };
}

function statuses({ sessions }: MetricsSummary): Plotted {
  return {
    title: "Sessions by status",
    about: "All there are now",
    of: "Status",
    rows: Object.keys(sessions),
    series: [{ label: "sessions", colour: "accent", values: Object.values(sessions) }],
    words: count,
  };
}

function latency(tools: readonly ToolSummary[]): Plotted {
  return {
    ...byTool(tools.filter((tool) => tool.p50 != null)),
    title: "How long a call takes",
    about: "Of the latest successes, half and 95 of 100 took at most this long",
    series: [
      { label: "p50", colour: "accent", values: known(tools, "p50") },
      { label: "p95", colour: "warn", values: known(tools, "p95") },
    ],
    words: duration,
    isLogarithmic: true,
  };
}

function success(tools: readonly ToolSummary[]): Plotted {
  const rated = tools.filter((tool) => tool.success_rate != null);
  return {
    ...byTool(rated),
    title: "Calls that succeed",
    about: "Share of all that ended",
    series: [{ label: "succeeded", colour: "ok", values: rated.map((tool) => tool.success_rate ?? null) }],
    words: percent,
    isShare: true,
  };
}

function tokens(tools: readonly ToolSummary[]): Plotted {
  const spenders = tools.filter((tool) => tool.tokens);
  return {
    ...byTool(spenders),
    title: "Tokens",
    about: "Used in the known past",
    series: [{ label: "tokens", colour: "live", values: spenders.map((tool) => tool.tokens ?? 0) }],
    words: count,
  };
}

function cost(tools: readonly ToolSummary[]): Plotted {
  const spenders = tools.filter((tool) => tool.usd);
  return {
    ...byTool(spenders),
    title: "Cost",
    about: "US dollars spent in the known past",
    series: [{ label: "USD", colour: "warn", values: spenders.map((tool) => tool.usd ?? 0) }],
    words: usd,
  };
}

const byTool = (tools: readonly ToolSummary[]) => ({ of: "Tool", rows: tools.map((tool) => tool.name) });

const known = (tools: readonly ToolSummary[], name: "p50" | "p95") =>
  tools.filter((tool) => tool.p50 != null).map((tool) => tool[name] ?? null);

function hourOf(at: string): string {
  return new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false });
}
