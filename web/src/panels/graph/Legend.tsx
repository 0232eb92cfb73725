import { ChevronDown } from "lucide-react";
import { useState, useSyncExternalStore } from "react";
import type { By } from "./drawing/groups";
import { COLOURS, GROUP_SHAPES, ROLE_SHAPES, type Shape, type Theme } from "./drawing/look";
import type { Scene } from "./drawing/scene";

export type Telling = "groups" | "neighbours" | "impact";
type Props = { scene: Scene; by: By; telling: Telling };
type Entry = { name: string; shape: Shape; colour: string; count?: number };

const WIDE = 640;

/** What the shapes and colours of the drawing mean. */
export function Legend({ scene, by, telling }: Props) {
  const theme = useSyncExternalStore(onTheme, themeNow);
  const [isOpen, setOpen] = useState(() => window.innerWidth >= WIDE);
  const entries = telling === "groups" ? groupEntries(scene, by, theme) : roleEntries(telling, theme);
  return (
    <div className="absolute bottom-2 left-2 max-w-[60%] rounded-md border bg-panel text-xs">
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex min-h-8 w-full items-center gap-1.5 rounded-md px-2 font-medium"
      >
        Legend
        <ChevronDown aria-hidden="true" className={`size-3.5 ${isOpen ? "" : "rotate-180"}`} />
      </button>
      {isOpen ? (
        <ul aria-label="Legend" className="grid gap-1 px-2 pb-2">
          {entries.map(({ name, shape, colour, count }) => (
            <li key={name} className="flex min-w-0 items-center gap-1.5">
              <Mark shape={shape} colour={colour} />
              <span className="min-w-0 truncate">{name}</span>
              {count === undefined ? null : <span className="text-muted">{count.toLocaleString()}</span>}
            </li>
          ))}
          {telling === "groups" ? <li className="text-muted">The larger, the more refer to it.</li> : null}
        </ul>
      ) : null}
    </div>
  );
}

function Mark({ shape, colour }: { shape: Shape; colour: string }) {
  return (
    <svg aria-hidden="true" viewBox="-1.4 -1.4 2.8 2.8" className="size-3.5 shrink-0" fill={colour}>
      {shape.length === 0 ? (
        <circle r="1" />
      ) : (
        <polygon points={shape.map((corner) => corner.join(",")).join(" ")} />
      )}
    </svg>
  );
}

function groupEntries(scene: Scene, by: By, theme: Theme): Entry[] {
  return scene.groupings[by].groups.map(({ name, count }, place) => ({
    name,
    count,
    shape: GROUP_SHAPES[place] ?? [],
    colour: COLOURS[theme].groups[place] ?? "gray",
  }));
}

function roleEntries(telling: Telling, theme: Theme): Entry[] {
  const { target, neighbour, hits, test, endpoint } = COLOURS[theme];
  const chosen = { name: "chosen", shape: ROLE_SHAPES.target, colour: target };
  if (telling === "neighbours") {
    return [chosen, { name: "one link away", shape: ROLE_SHAPES.neighbour, colour: neighbour }];
  }
  return [
    chosen,
    ...hits.map((colour, place) => ({
      name: place + 1 === hits.length ? `${place + 1} or more away` : `${place + 1} away`,
      shape: ROLE_SHAPES.hit,
      colour,
    })),
    { name: "test", shape: ROLE_SHAPES.test, colour: test },
    { name: "endpoint", shape: ROLE_SHAPES.endpoint, colour: endpoint },
  ];
}

const themeNow = (): Theme => (document.documentElement.dataset.theme === "dark" ? "dark" : "light");

function onTheme(listener: () => void): () => void {
  const themed = new MutationObserver(listener);
  themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  return () => themed.disconnect();
}
