import { bytes } from "@/parts/amounts";
import { CodeBlock } from "@/parts/CodeBlock";
import { Output } from "@/parts/Output";
import { Script } from "@/parts/Script";
import { Tag } from "@/parts/Tag";
import { linesOf } from "@/parts/terminal";
import { duration } from "@/parts/time";
import type { Outcome, Ran } from "./outcomes";

/** What went in or came out, in the face of its kind. */
export function OutcomeShown({ outcome }: { outcome: Outcome }) {
  switch (outcome.kind) {
    case "command":
      return <CodeBlock value={outcome.command} label="Command" />;
    case "script":
      return (
        <>
          <Script label="Script" {...outcome.script} />
          {Object.keys(outcome.rest).length > 0 ? <CodeBlock value={outcome.rest} label="With" /> : null}
        </>
      );
    case "ran":
      return <RanShown ran={outcome} />;
    case "job":
      return (
        <Output label="What it has printed" lines={linesOf(outcome.text)}>
          <Tag>{outcome.status}</Tag>
          <Exit code={outcome.exitCode} />
          {outcome.lost > 0 ? <Tag tone="warn">{bytes(outcome.lost)} lost</Tag> : null}
        </Output>
      );
    case "scriptEnded":
      return (
        <>
          {outcome.output === "" ? null : <Output label="Printed" lines={linesOf(outcome.output)} />}
          <CodeBlock value={outcome.value} label="Value" />
        </>
      );
  }
}

function RanShown({ ran }: { ran: Ran }) {
  const isBad = ran.exitCode !== 0;
  return (
    <>
      <p className="flex flex-wrap items-center gap-2 text-xs text-muted">
        <Exit code={ran.exitCode} />
        {ran.cpuSeconds === null ? null : <span>{duration(ran.cpuSeconds)} of processor time</span>}
        {ran.peakBytes === null ? null : <span>{bytes(ran.peakBytes)} of memory at most</span>}
        {ran.leftOut > 0 ? (
          <Tag tone="warn">{bytes(ran.leftOut)} of what it printed were not kept</Tag>
        ) : null}
        {ran.stdout === "" && ran.stderr === "" ? <span>It printed nothing.</span> : null}
      </p>
      {ran.stdout === "" ? null : <Output label="Printed" lines={linesOf(ran.stdout)} isFromEnd={isBad} />}
      {ran.stderr === "" ? null : (
        <Output label="Printed as errors (stderr)" lines={linesOf(ran.stderr)} isFromEnd={isBad} />
      )}
    </>
  );
}

export function Exit({ code }: { code: number | null }) {
  if (code === null) return null;
  return <Tag tone={code === 0 ? "quiet" : "bad"}>exit {code}</Tag>;
}
