import { PlanCard } from "@/panels/change/PlanCard";
import { CodeBlock } from "@/parts/CodeBlock";
import { Diff, isDiff } from "@/parts/Diff";
import { Script } from "@/parts/Script";
import { Tag } from "@/parts/Tag";
import { visibleLine } from "@/parts/visible";
import { readScript } from "@/session/script";
import { readPlan } from "@/wire/change";
import { Facts, OtherParams } from "./previews/Facts";
import { PreviewShown } from "./previews/PreviewShown";
import { readPreview } from "./previews/previews";

type Call = {
  tool: string;
  params: unknown;
  effect?: string;
  preview?: unknown;
  targets?: Record<string, string | null>;
};

/** What an approval is about: a tool's call with what it would change, a plan with what it reaches, or whatever is shown. */
export function ShownCall({ shown }: { shown: unknown }) {
  if (!isCall(shown)) return <ShownByWorkflow shown={shown} />;
  const preview = readPreview(shown.preview);
  const script = shown.tool === "code" && shown.preview == null ? readScript(shown.params) : null;
  return (
    <div className="grid min-w-0 gap-2">
      <p className="flex flex-wrap items-center gap-2">
        <code className="font-mono">{visibleLine(shown.tool)}</code>
        {shown.effect ? <Tag tone={shown.effect === "read" ? "quiet" : "warn"}>{shown.effect}</Tag> : null}
      </p>
      {preview ? (
        <>
          <PreviewShown preview={preview} params={shown.params} />
          <AsRecorded shown={shown} />
        </>
      ) : script ? (
        <>
          <Script label="Runs this script" {...script} />
          <Facts>
            <OtherParams params={shown.params} shown={["source"]} />
          </Facts>
          <AsRecorded shown={shown} />
        </>
      ) : (
        <>
          <PlainPreview preview={shown.preview} />
          <CodeBlock value={shown.params} label="Exact parameters" />
        </>
      )}
      {shown.targets ? <Targets targets={shown.targets} /> : null}
    </div>
  );
}

/** A plan is made easy to read, but what is approved is what it is made of. */
function ShownByWorkflow({ shown }: { shown: unknown }) {
  const plan = readPlan(shown);
  return (
    <div className="grid min-w-0 gap-3">
      {plan ? <PlanCard plan={plan} /> : null}
      <CodeBlock value={shown} label={plan ? "Exactly what is to be approved" : "What is to be approved"} />
    </div>
  );
}

function PlainPreview({ preview }: { preview: unknown }) {
  if (preview === undefined || preview === null) return null;
  if (typeof preview === "string" && isDiff(preview))
    return <Diff text={preview} label="What it would change" />;
  return <CodeBlock value={preview} label="What it would do" />;
}

function AsRecorded({ shown }: { shown: Call }) {
  return (
    <details>
      <summary className="cursor-pointer text-xs text-muted hover:text-ink">
        The same as it is recorded
      </summary>
      <div className="mt-2 grid min-w-0 gap-2">
        <CodeBlock value={shown.params} label="Exact parameters" />
        {shown.preview == null ? null : <CodeBlock value={shown.preview} label="What it would do" />}
      </div>
    </details>
  );
}

function Targets({ targets }: { targets: Record<string, string | null> }) {
  return (
    <div>
      <h3 className="text-xs font-medium text-muted">It touches, as they are now</h3>
      <ul className="mt-1 grid gap-0.5 font-mono text-xs">
        {Object.entries(targets).map(([path, digest]) => (
          <li key={path} className="flex flex-wrap gap-x-2 break-all">
            <span>{path === "." ? "the whole working folder" : visibleLine(path)}</span>
            <span className="text-muted">{digest === null ? "does not exist yet" : digest.slice(0, 12)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function isCall(shown: unknown): shown is Call {
  return (
    typeof shown === "object" &&
    shown !== null &&
    "tool" in shown &&
    typeof shown.tool === "string" &&
    "params" in shown
  );
}
