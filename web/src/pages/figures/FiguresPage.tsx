import { useQuery } from "@tanstack/react-query";
import { ChartLine } from "lucide-react";
import { useMemo } from "react";
import { Figure } from "@/panels/figures/Figure";
import { plotsOf, tilesOf } from "@/panels/figures/plots";
import { Empty, Failed, Loading } from "@/parts/Faces";
import { When } from "@/parts/When";
import { metricsQuery } from "@/wire/queries";
import type { MetricsSummary } from "@/wire/types";

/** How the server is, in numbers. `/metrics` is Prometheus's. */
export default function FiguresPage() {
  const summary = useQuery(metricsQuery);
  return (
    <div className="mx-auto grid max-w-5xl gap-4 p-3 sm:p-5">
      <header className="flex flex-wrap items-baseline gap-2">
        <h1 className="text-lg font-semibold">Figures</h1>
        {summary.data ? (
          <span className="text-xs">
            <When at={summary.data.at} />
          </span>
        ) : null}
      </header>
      {summary.isPending ? <Loading what="the figures" /> : null}
      {summary.isError && !summary.data ? (
        <Failed error={summary.error} retry={() => void summary.refetch()} />
      ) : null}
      {summary.data ? <Figures summary={summary.data} /> : null}
    </div>
  );
}

function Figures({ summary }: { summary: MetricsSummary }) {
  const plots = useMemo(() => plotsOf(summary), [summary]);
  if (summary.events === 0) {
    return (
      <Empty icon={ChartLine} title="Nothing to count yet">
        Figures appear once a session has run.
      </Empty>
    );
  }
  return (
    <>
      <dl className="grid grid-cols-2 gap-2 sm:grid-cols-4">
        {tilesOf(summary).map(({ name, words }) => (
          <div key={name} className="flex flex-col-reverse rounded-lg border bg-panel px-3 py-2">
            <dt className="text-xs text-muted">{name}</dt>
            <dd className="text-lg font-semibold">{words}</dd>
          </div>
        ))}
      </dl>
      <div className="grid grid-cols-1 gap-3 lg:grid-cols-2">
        {plots.map((plot) => (
          <Figure key={plot.title} plot={plot} />
        ))}
      </div>
    </>
  );
}
