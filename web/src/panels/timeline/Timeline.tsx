import { ScrollText } from "lucide-react";
import { useEffect, useMemo, useRef, useState } from "react";
import { Virtuoso, type VirtuosoHandle } from "react-virtuoso";
import { Button } from "@/parts/Button";
import { Empty } from "@/parts/Faces";
import { showProblem } from "@/parts/showProblem";
import { stepOf } from "@/session/fold";
import type { LiveSession } from "@/session/live";
import { callOf, type Script, scriptsOf } from "@/session/script";
import type { Story } from "@/session/story";
import { asProblem } from "@/wire/problem";
import type { SessionPanelProps } from "../session";
import { EventRow } from "./EventRow";
import { LiveTail } from "./LiveTail";
import type { WithinScript } from "./row";
import { StepRow } from "./StepRow";

/** Virtuoso counts rows from here, so that older ones can be put before it. */
const MIDDLE = 10_000_000;
/** Pixels of a closed row; else the first row that is seen, perhaps an open one, counts as what all are like. */
const ROW = 33;
/** Pixels from the end within which one still follows it: as much as a few lines of output add at once. */
const NEAR_THE_END = 150;

type Props = SessionPanelProps & { wanted: number | null };

/** Everything that happened, newest at the bottom; older events come as one scrolls up. */
export function Timeline({ live, session, wanted }: Props) {
  const list = useRef<VirtuosoHandle>(null);
  const [opened, setOpened] = useState<ReadonlyMap<number, boolean>>(new Map());
  const [isAtEnd, setAtEnd] = useState(true);
  // Rows that are put before move what is shown, so the list is made anew to begin among them.
  const [start, setStart] = useState(wanted !== null && isIn(session, wanted) ? wanted : null);
  const { story } = live;
  const first = MIDDLE - live.prepended;
  const titles = new Map(live.state.plan.map((step) => [step.key, step.title]));
  const scripts = useMemo(() => scriptsOf(live.state.input), [live.state.input]);

  useEffect(() => {
    if (wanted === null) return;
    const isLoaded = isIn(session, wanted);
    session
      .reach(wanted)
      .then(() => {
        setOpened((before) => new Map(before).set(wanted, true));
        if (isLoaded) list.current?.scrollToIndex({ index: placeIn(session, wanted), align: "center" });
        else setStart(wanted);
      })
      .catch((error) => showProblem(asProblem(error)));
  }, [wanted, session]);

  const { output, writing } = live.passing;
  // biome-ignore lint/correctness/useExhaustiveDependencies: what passes by makes the end grow
  useEffect(() => list.current?.autoscrollToBottom(), [output, writing]);

  if (story.length === 0) return <Empty icon={ScrollText} title="Nothing has happened yet" />;
  return (
    <div className="relative h-full min-h-0">
      <Virtuoso
        key={`${story.showsAll} ${start}`}
        ref={list}
        className="h-full"
        totalCount={story.length}
        firstItemIndex={first}
        initialTopMostItemIndex={
          start === null ? story.length - 1 : { index: story.indexOf(start), align: "center" }
        }
        defaultItemHeight={ROW}
        increaseViewportBy={400}
        startReached={() => void session.older().catch((error) => showProblem(asProblem(error)))}
        atBottomThreshold={NEAR_THE_END}
        atBottomStateChange={setAtEnd}
        followOutput="auto"
        context={live}
        components={PARTS}
        itemContent={(index) => {
          const row = story.row(index - first);
          if (row === undefined) return <div className="h-8" />;
          const isOpen = opened.get(row.head.seq) ?? opened.get(row.last.seq) ?? false;
          const toggle = () => setOpened((before) => new Map(before).set(row.head.seq, !isOpen));
          const shared = {
            row,
            isOpen,
            toggle,
            isWanted: wanted === row.head.seq || wanted === row.last.seq,
            within: withinScript(story, index - first, titles, scripts),
          };
          const isNew = live.seen !== null && row.head.seq === firstUnseen(live);
          return (
            <>
              {isNew ? <NewLine /> : null}
              {row.head.type === "step" ? <StepRow {...shared} titles={titles} /> : <EventRow {...shared} />}
            </>
          );
        }}
      />
      {isAtEnd ? null : (
        <Button
          className="absolute right-3 bottom-3 shadow"
          onClick={() => list.current?.scrollToIndex({ index: "LAST", align: "end" })}
        >
          Newest
        </Button>
      )}
    </div>
  );
}

function withinScript(
  story: Story,
  place: number,
  titles: ReadonlyMap<string, string>,
  scripts: ReadonlyMap<string, Script>,
): WithinScript | null {
  const callAt = (at: number) => {
    const row = story.row(at);
    return row ? callOf(story.keyOf(row.head) ?? "") : null;
  };
  const call = callAt(place);
  if (call === null) return null;
  const title = titles.get(stepOf(call.step)) ?? call.step;
  return { call, script: scripts.get(call.step), title, isFirst: callAt(place - 1)?.step !== call.step };
}

type Context = SessionPanelProps["live"];

const PARTS = {
  Header: ({ context }: { context?: Context }) => (
    <p className="px-3 py-2 text-center text-xs text-muted">
      {context && context.story.first > 1 ? "Older events load as you scroll up…" : "The session began here."}
    </p>
  ),
  Footer: ({ context }: { context?: Context }) => (context ? <LiveTail live={context} /> : null),
};

function NewLine() {
  return (
    <div className="flex items-center gap-2 px-3 py-1 text-xs font-medium text-accent">
      <span className="h-px flex-1 bg-accent" />
      new since you left
      <span className="h-px flex-1 bg-accent" />
    </div>
  );
}

function isIn(session: LiveSession, seq: number): boolean {
  const live = session.get();
  return live.face === "working" && seq >= live.story.first;
}

function placeIn(session: LiveSession, seq: number): number {
  const live = session.get();
  return live.face === "working" ? live.story.indexOf(seq) : 0;
}

/** The event at whose row the news begin. */
function firstUnseen(live: Context): number {
  if (live.seen === null || live.state.seq <= live.seen.seq) return 0;
  return live.story.row(live.story.indexOf(live.seen.seq + 1))?.head.seq ?? 0;
}
