import { FileDown, Package } from "lucide-react";
import { bytes } from "@/parts/amounts";
import { Empty } from "@/parts/Faces";
import { visibleLine } from "@/parts/visible";
import { artifactPath } from "@/wire/client";
import type { Artifact } from "@/wire/types";
import type { SessionPanelProps } from "../session";
import { isPicture, Picture } from "./Picture";

/** What the session made: pictures to look at, files to take away. */
export default function ArtifactsPanel({ live }: SessionPanelProps) {
  const { id, artifacts } = live.state;
  if (artifacts.size === 0) {
    return (
      <Empty icon={Package} title="Nothing made yet">
        Screenshots and files that steps make are kept here.
      </Empty>
    );
  }
  return (
    <ul className="divide-y divide-line/60">
      {[...artifacts.values()].reverse().map((made) => (
        <li key={made.name} className="grid gap-2 px-3 py-2">
          <Line session={id} made={made} />
          {isPicture(made.media_type) ? <Picture session={id} name={made.name} step={made.key} /> : null}
        </li>
      ))}
    </ul>
  );
}

function Line({ session, made }: { session: string; made: Artifact }) {
  return (
    <a
      href={artifactPath(session, made.name)}
      download={made.name}
      className="flex min-h-8 min-w-0 items-center gap-2 text-sm hover:underline"
    >
      <FileDown className="size-4 shrink-0 text-muted" aria-hidden />
      <span className="min-w-0 flex-1 font-mono text-xs break-all">{visibleLine(made.name)}</span>
      <span className="text-xs whitespace-nowrap text-muted">{bytes(made.bytes)}</span>
    </a>
  );
}
