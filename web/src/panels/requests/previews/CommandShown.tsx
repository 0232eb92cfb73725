import { Terminal } from "lucide-react";
import { CopyButton } from "@/parts/CopyButton";
import { Numbered } from "@/parts/Numbered";
import { Tag } from "@/parts/Tag";
import { visibleLine } from "@/parts/visible";
import { Exact, Fact, Facts, OtherParams } from "./Facts";
import { type Command, lineForShell, quoted } from "./previews";

const SHOWN = ["command", "argv", "cwd", "env", "hosts"];

/** Exactly what will be run, where, with what, and whom it may reach. */
export function CommandShown({ command, params }: { command: Command; params: unknown }) {
  const forShell = lineForShell(command.argv);
  const text = forShell ?? quoted(command.argv);
  const env = Object.entries(command.env);
  return (
    <>
      <Lines
        text={text}
        label={forShell === null ? "Runs these words, without a shell" : "Runs in /bin/sh"}
      />
      <Facts>
        <Fact name="May reach">
          <Hosts hosts={command.hosts} />
        </Fact>
        <Fact name="In folder">
          <Exact>{command.folder}</Exact>
        </Fact>
        <Fact name="Variables">
          {env.length === 0 ? (
            "none"
          ) : (
            <Exact>{env.map(([name, value]) => `${name}=${value}`).join("\n")}</Exact>
          )}
        </Fact>
        <Fact name="Sandbox">
          {command.sandbox === "none" ? <Tag tone="bad">none</Tag> : visibleLine(command.sandbox)}
        </Fact>
        <OtherParams params={params} shown={SHOWN} />
      </Facts>
    </>
  );
}

function Lines({ text, label }: { text: string; label: string }) {
  const count = text.split("\n").length;
  return (
    <figure className="min-w-0 overflow-hidden rounded-md border-2 border-warn bg-ground">
      <figcaption className="flex items-center gap-1.5 border-b px-2 py-0.5 text-xs font-medium">
        <Terminal aria-hidden="true" className="size-3.5 shrink-0 text-warn" />
        <span className="flex-1">
          {label}
          {count > 1 ? <span className="text-muted"> · {count.toLocaleString()} lines</span> : null}
        </span>
        <CopyButton text={text} what="the command" />
      </figcaption>
      <Numbered text={text} className="max-h-96 text-sm!" />
    </figure>
  );
}

function Hosts({ hosts }: { hosts: readonly string[] }) {
  if (hosts.length === 0) return "nobody: it has no network";
  return (
    <span className="flex flex-wrap gap-1">
      {hosts.map((host) => (
        <Tag key={host} tone="warn">
          <code className="font-mono whitespace-normal break-all">{visibleLine(host)}</code>
        </Tag>
      ))}
    </span>
  );
}
