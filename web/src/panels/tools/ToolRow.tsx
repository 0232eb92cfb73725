import { ChevronRight, CircleCheck, CircleX, type LucideIcon, Zap, ZapOff } from "lucide-react";
import { count, percent } from "@/parts/amounts";
import { Tag } from "@/parts/Tag";
import { duration } from "@/parts/time";
import { visibleLine } from "@/parts/visible";
import type { ToolView } from "@/wire/types";
import { ToolDetail } from "./ToolDetail";

type Props = { tool: ToolView; isOpen: boolean; toggle: () => void };

export const COLUMNS = 8;
const BREAKERS: Record<string, { icon: LucideIcon; word: string; look: string }> = {
  closed: { icon: Zap, word: "closed", look: "text-muted" },
  half_open: { icon: Zap, word: "trying again", look: "text-warn" },
  open: { icon: ZapOff, word: "open", look: "text-bad" },
};

/** A tool on one line; opened, with all there is to know of it. */
export function ToolRow({ tool, isOpen, toggle }: Props) {
  const { name, effect, health, metrics } = tool;
  const isWell = health === "ok";
  const Health = isWell ? CircleCheck : CircleX;
  const breaker = BREAKERS[tool.breaker] ?? { icon: Zap, word: tool.breaker, look: "text-muted" };
  return (
    <tbody className="border-b border-line/60 last:border-0">
      <tr>
        <th scope="row" className="w-full max-w-0 py-0.5 pr-2 pl-1 font-normal">
          <div className="flex min-w-0 items-center gap-2">
            <button
              type="button"
              aria-expanded={isOpen}
              onClick={toggle}
              className="flex min-h-8 min-w-0 items-center max-md:w-full md:shrink-0 gap-1.5 rounded px-2 text-left font-mono hover:bg-raised"
            >
              <ChevronRight
                aria-hidden="true"
                className={`size-3.5 shrink-0 text-muted motion-safe:transition-transform ${isOpen ? "rotate-90" : ""}`}
              />
              <span className="min-w-0 break-words max-sm:text-xs">{visibleLine(name)}</span>
            </button>
            {isOpen ? null : (
              <span
                className={`min-w-0 truncate text-xs max-md:hidden ${isWell ? "text-muted" : "text-bad"}`}
              >
                {visibleLine(isWell ? tool.about : health)}
              </span>
            )}
          </div>
        </th>
        <td className="px-2 py-1">
          <span
            className={`inline-flex items-center gap-1 whitespace-nowrap ${isWell ? "text-ok" : "text-bad"}`}
          >
            <Health aria-hidden="true" className="size-3.5 shrink-0" />
            {isWell ? "ok" : "not well"}
          </span>
        </td>
        <td className="px-2 py-1 max-sm:hidden">
          <span className={`inline-flex items-center gap-1 whitespace-nowrap ${breaker.look}`}>
            <breaker.icon aria-hidden="true" className="size-3.5" />
            {breaker.word}
          </span>
        </td>
        <td className="px-2 py-1 max-sm:hidden">
          <Tag tone={effect === "external" ? "warn" : "quiet"}>{effect}</Tag>
        </td>
        <Figure className="max-md:hidden">{metrics?.p50 == null ? "–" : duration(metrics.p50)}</Figure>
        <Figure className="max-md:hidden">{metrics?.p95 == null ? "–" : duration(metrics.p95)}</Figure>
        <Figure>{percent(metrics?.success_rate)}</Figure>
        <Figure className="pr-3 max-sm:hidden">{count(metrics?.calls ?? 0)}</Figure>
      </tr>
      {isOpen ? (
        <tr>
          <td colSpan={COLUMNS} className="border-t border-line/60 bg-ground p-0">
            <ToolDetail tool={tool} />
          </td>
        </tr>
      ) : null}
    </tbody>
  );
}

function Figure({ className = "", children }: { className?: string; children: string }) {
  return (
    <td className={`px-2 py-1 text-right font-mono text-xs whitespace-nowrap ${className}`}>{children}</td>
  );
}
