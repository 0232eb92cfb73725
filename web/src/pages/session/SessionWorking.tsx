import { Suspense, useState } from "react";
import { SESSION_PANELS } from "@/panels";
import { Composer } from "@/panels/controls/Composer";
import type { SessionPanelProps } from "@/panels/session";
import { Since } from "@/panels/since/Since";
import { Timeline } from "@/panels/timeline/Timeline";
import { Loading } from "@/parts/Faces";
import { Asked } from "./Asked";
import { SessionHeader } from "./SessionHeader";

type Props = SessionPanelProps & { wanted: number | null; request: string | null };

const TIMELINE = "timeline";
const ENDED = new Set(["completed", "failed", "cancelled"]);

/** The timeline beside one panel; on a narrow screen, one of them at a time. */
export function SessionWorking({ live, session, wanted, request }: Props) {
  const [tab, setTab] = useState(TIMELINE);
  const beside = SESSION_PANELS.find((panel) => panel.id === tab) ?? SESSION_PANELS[0];
  const props = { live, session };
  return (
    <div className="flex h-full min-h-0 flex-col">
      <SessionHeader {...props} />
      <Since {...props} />
      <div className="grid min-h-0 flex-1 grid-rows-[minmax(0,1fr)] lg:grid-cols-[minmax(0,1fr)_24rem]">
        <section
          aria-label="Timeline"
          className={`flex min-h-0 min-w-0 flex-col lg:border-r ${tab === TIMELINE ? "" : "max-lg:hidden"}`}
        >
          <Tabs tab={tab} onTab={setTab} isNarrow />
          <TimelineBar {...props} />
          <Asked {...props} request={request} className="max-h-[68%] overflow-y-auto" />
          <div className="min-h-0 flex-1">
            <Timeline {...props} wanted={wanted} />
          </div>
          {ENDED.has(live.state.status) ? null : <Composer {...props} />}
        </section>
        <aside
          className={`flex min-h-0 min-w-0 flex-col bg-panel ${tab === TIMELINE ? "max-lg:hidden" : ""}`}
        >
          <Tabs tab={tab === TIMELINE ? (beside?.id ?? "") : tab} onTab={setTab} />
          <div className="min-h-0 flex-1 overflow-y-auto">
            <Suspense fallback={<Loading what="the panel" />}>
              {beside ? <beside.Panel {...props} /> : null}
            </Suspense>
          </div>
        </aside>
      </div>
    </div>
  );
}

type TabsProps = { tab: string; onTab: (tab: string) => void; isNarrow?: boolean };

function Tabs({ tab, onTab, isNarrow = false }: TabsProps) {
  const all = [{ id: TIMELINE, title: "Timeline" }, ...SESSION_PANELS];
  return (
    <div className={`flex gap-0.5 overflow-x-auto border-b bg-panel px-2 ${isNarrow ? "lg:hidden" : ""}`}>
      {all.map(({ id, title }) => (
        <button
          key={id}
          type="button"
          aria-pressed={tab === id}
          onClick={() => onTab(id)}
          className={`min-h-9 shrink-0 border-b-2 px-2 text-xs whitespace-nowrap -outline-offset-2 ${id === TIMELINE ? "lg:hidden" : ""} ${tab === id ? "border-accent font-medium text-ink" : "border-transparent text-muted hover:text-ink"}`}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

function TimelineBar({ live, session }: SessionPanelProps) {
  const words = { connecting: "connecting…", open: "live", lost: "reconnecting…", offline: "offline" };
  return (
    <div className="flex items-center justify-between gap-2 border-b px-3 py-1 text-xs text-muted">
      <span aria-live="polite">
        {live.state.seq.toLocaleString()} events · <span>{words[live.connection]}</span>
      </span>
      <label className="flex items-center gap-1.5">
        <input
          type="checkbox"
          checked={live.story.showsAll}
          onChange={(event) => session.retell(event.target.checked)}
          className="accent-accent"
        />
        every event
      </label>
    </div>
  );
}
