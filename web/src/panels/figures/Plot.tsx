import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { visibleLine } from "@/parts/visible";
import { type Colour, drawn, type Plotted, type Series } from "./plots";

const HEIGHT = 220;
const FONT = "11px ui-sans-serif, system-ui, sans-serif";
const LONGEST_NAME = 14;
const FEWEST_ROWS = 5;

/** The drawing only: what it says is in the table beside it. Drawn anew when the theme or the width changes. */
export default function Plot({ plot }: { plot: Plotted }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return;
    let shown: uPlot | undefined;
    const draw = () => {
      shown?.destroy();
      shown = new uPlot(optionsFor(plot, element), dataOf(plot), element);
    };
    draw();
    const resized = new ResizeObserver(() => {
      if (element.clientWidth > 0) shown?.setSize({ width: element.clientWidth, height: HEIGHT });
    });
    resized.observe(element);
    const themed = new MutationObserver(draw);
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      shown?.destroy();
    };
  }, [plot]);
  return (
    <div ref={place} aria-hidden="true" className="min-w-0 overflow-hidden" style={{ minHeight: HEIGHT }} />
  );
}

function dataOf(plot: Plotted): uPlot.AlignedData {
  const { rows, series } = drawn(plot);
  return [rows.map((_, place) => place), ...series.map(({ values }) => [...values])];
}

function optionsFor(plot: Plotted, element: HTMLElement): uPlot.Options {
  const shown = drawn(plot);
  const colour = coloursOn(element);
  return {
    width: Math.max(element.clientWidth, 200),
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    scales: scalesFor(shown),
    axes: axesFor(shown, colour),
    series: [{}, ...shown.series.map((one, place) => seriesFor(one, place, shown, colour))],
  };
}

function scalesFor({ rows, isLogarithmic, isShare }: Plotted): uPlot.Scales {
  const end = Math.max(rows.length, FEWEST_ROWS) - 0.4;
  return {
    x: { time: false, range: [-0.6, end] },
    y: isLogarithmic ? { distr: 3 } : { range: (_, __, most) => [0, isShare ? 1 : Math.max(most * 1.1, 1)] },
  };
}

function axesFor({ of, rows, words, isLogarithmic }: Plotted, colour: Colours): uPlot.Axis[] {
  const look = { stroke: colour("muted"), font: FONT, grid: { stroke: colour("line"), width: 1 } };
  const isDay = of === "Hour";
  return [
    {
      ...look,
      grid: { show: false },
      rotate: isDay ? 0 : -35,
      size: isDay ? 30 : 70,
      splits: () => rows.map((_, place) => place).filter((place) => !isDay || place % 4 === 0),
      values: (_, splits) => splits.map((split) => shortened(rows[split] ?? "")),
    },
    {
      ...look,
      size: 56,
      splits: isLogarithmic ? (_, __, least, most) => powersOfTen(least, most) : undefined,
      // A logarithmic axis leaves out some of its numbers, and says so with a null.
      values: (_, splits) => splits.map((split: number | null) => (split === null ? "" : words(split))),
    },
  ];
}

function seriesFor(one: Series, place: number, { of, series }: Plotted, colour: Colours): uPlot.Series {
  const look = { label: one.label, stroke: colour(one.colour), points: { show: false } };
  if (of === "Hour") return { ...look, width: 2 };
  return { ...look, width: 0, fill: colour(one.colour), paths: bars(place, series.length) };
}

/** Bars side by side: each series has its own part of the row's width. */
function bars(place: number, of: number): uPlot.Series.PathBuilder | undefined {
  const share = 0.8 / of;
  return uPlot.paths.bars?.({
    disp: {
      x0: { unit: 1, values: (u) => Array.from(u.data[0], (x) => x - 0.4 + place * share) },
      size: { unit: 1, values: (u) => Array.from(u.data[0], () => share) },
    },
  });
}

function powersOfTen(least: number, most: number): number[] {
  const [from, to] = [Math.ceil(Math.log10(least)), Math.floor(Math.log10(most))];
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, place) => 10 ** (from + place));
}

type Colours = (name: Colour | "line") => string;

function coloursOn(element: HTMLElement): Colours {
  const style = getComputedStyle(element);
  return (name) => style.getPropertyValue(`--${name}`).trim() || "gray";
}

function shortened(name: string): string {
  const line = visibleLine(name);
  return line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME - 1)}…` : line;
}
