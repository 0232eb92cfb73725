import type { ReactNode } from "react";
import { CodeBlock } from "@/parts/CodeBlock";
import { duration } from "@/parts/time";
import { visible, visibleLine } from "@/parts/visible";
import { When } from "@/parts/When";
import type { ToolView } from "@/wire/types";
import { exampleOf, type Parameter, parametersOf } from "./parameters";

/** All that is known of a tool: how it is, what it takes, how it is called. */
export function ToolDetail({ tool }: { tool: ToolView }) {
  const parameters = parametersOf(tool.parameters);
  return (
    <div className="grid min-w-0 gap-3 p-3">
      <p className="max-w-prose break-words">{visible(tool.about)}</p>
      {tool.health === "ok" ? null : (
        <p className="rounded-md bg-bad-soft p-2 break-words text-bad">{visible(tool.health)}</p>
      )}
      <Facts tool={tool} />
      {parameters.length === 0 ? (
        <p className="text-muted">It takes no parameters.</p>
      ) : (
        <Parameters parameters={parameters} name={tool.name} />
      )}
      <CodeBlock value={exampleOf(tool)} label="As a step of a plan" />
    </div>
  );
}

function Facts({ tool }: { tool: ToolView }) {
  const { metrics } = tool;
  return (
    <dl className="grid grid-cols-[repeat(auto-fill,minmax(9rem,1fr))] gap-x-4 gap-y-1.5">
      <Fact name="Run twice">{tool.idempotent ? "does no harm" : "acts twice"}</Fact>
      <Fact name="Asks a person">{tool.asks ? "may" : "never by itself"}</Fact>
      <Fact name="Time limit">{duration(tool.timeout)}</Fact>
      {metrics ? (
        <>
          <Fact name="Succeeded">{(metrics.succeeded ?? 0).toLocaleString()}</Fact>
          <Fact name="Failed">{(metrics.failed ?? 0).toLocaleString()}</Fact>
          <Fact name="Tried again">{(metrics.retried ?? 0).toLocaleString()}</Fact>
          <Fact name="Half take at most">{metrics.p50 == null ? "–" : duration(metrics.p50)}</Fact>
          <Fact name="95 of 100 at most">{metrics.p95 == null ? "–" : duration(metrics.p95)}</Fact>
          <Fact name="Last call">{metrics.last_at ? <When at={metrics.last_at} /> : "–"}</Fact>
        </>
      ) : null}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-muted">{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function Parameters({ parameters, name }: { parameters: readonly Parameter[]; name: string }) {
  return (
    <table className="w-full table-fixed text-left">
      <caption className="pb-1 text-left text-xs font-medium">Parameters of {visibleLine(name)}</caption>
      <thead className="border-b text-xs text-muted">
        <tr>
          <th className="w-1/3 py-1 pr-2 font-medium">Name</th>
          <th className="py-1 font-medium">What it is</th>
        </tr>
      </thead>
      <tbody className="divide-y divide-line/60">
        {parameters.map(({ name, type, isRequired, about, preset }) => (
          <tr key={name} className="align-top">
            <th scope="row" className="py-1 pr-2 font-mono text-xs font-normal break-all">
              {visibleLine(name)}
              {isRequired ? <span className="block font-sans text-muted">required</span> : null}
            </th>
            <td className="py-1 break-words">
              <code className="font-mono text-xs text-muted">
                {visibleLine(type)}
                {preset === undefined ? "" : ` = ${visibleLine(preset)}`}
              </code>
              {about ? <p>{visible(about)}</p> : null}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
