import { useQuery } from "@tanstack/react-query";
import { Map as MapIcon } from "lucide-react";
import { lazy, Suspense, useMemo } from "react";
import { Empty, Failed } from "@/parts/Faces";
import { useRested } from "@/parts/rested";
import { visibleLine } from "@/parts/visible";
import { graphQuery } from "@/wire/queries";
import type { CodeSymbol, Impact } from "@/wire/types";
import { impactAsked } from "./BlastRadius";
import type { Drawer } from "./drawing/drawer";
import { impactMarks, neighbourMarks, type Places, placeOf, placesIn } from "./drawing/marks";
import type { Shown } from "./drawing/messages";
import { ringsOf } from "./drawing/rings";
import { type Scene, SURENESS } from "./drawing/scene";
import { useMap } from "./drawing/useMap";
import { Legend } from "./Legend";
import { neighboursAsked } from "./Neighbours";
import type { OfGraph } from "./props";
import type { GraphView } from "./view";
import { counted } from "./words";

const Drawing = lazy(() => import("./drawing/Drawing"));

/** The repository as a map, or what a change of the chosen node reaches as rings. */
export function MapPanel(props: OfGraph) {
  const [map, retry] = useMap(props.repo, props.view.level);
  if (map.face === "loading") return <Coming {...props} />;
  if (map.face === "failed") return <Failed error={map.problem} retry={retry} />;
  if (map.scene.ids.length === 0) {
    return (
      <Empty icon={MapIcon} title="There is nothing to draw">
        The repository has no file in a language that is known.
      </Empty>
    );
  }
  return (
    <Suspense fallback={<Coming {...props} />}>
      <Charted {...props} drawer={map.drawer} scene={map.scene} />
    </Suspense>
  );
}

function Coming({ repo, view }: OfGraph) {
  const size = view.level === "symbols" && repo.built ? ` of ${counted(repo.built.nodes, "node")}` : "";
  return (
    <p role="status" className="grid h-full place-content-center p-4 text-center text-muted">
      Loading the map{size}…
    </p>
  );
}

function Charted({ repo, view, choose, drawer, scene }: OfGraph & { drawer: Drawer; scene: Scene }) {
  const places = useMemo(() => placesIn(scene), [scene]);
  const { center, impact } = useAnswers({ repo, view });
  const focus = center ? placeOf(places, center) : -1;
  const shown = useMemo(
    () => shownOf(scene, places, focus, impact, view),
    [scene, places, focus, impact, view],
  );
  const what = view.level === "modules" ? "module" : "symbol";
  const name = visibleLine(repo.name);
  return (
    <Drawing
      drawer={drawer}
      scene={scene}
      shown={shown}
      focus={shown.rings ? -1 : focus}
      label={`Map of ${name}: ${counted(scene.ids.length, what)}, ${counted(scene.links.from.length, "link")}`}
      onChoose={choose}
    >
      <Legend
        scene={scene}
        by={view.by}
        telling={impact ? "impact" : shown.marks ? "neighbours" : "groups"}
      />
      <LeftOut words={leftOut(scene, shown, what)} />
    </Drawing>
  );
}

function leftOut(scene: Scene, { rings }: Shown, what: string): string | null {
  if (rings)
    return rings.left > 0 ? `The nearest; ${rings.left.toLocaleString()} more are in the lists` : null;
  const count = scene.ids.length;
  if (count === scene.totalNodes) return null;
  const [links, all] = [scene.links.from.length, scene.totalLinks];
  return `The ${count.toLocaleString()} best connected of ${counted(scene.totalNodes, what)}, with ${links.toLocaleString()} of ${counted(all, "link")}. Search and lists know them all.`;
}

function LeftOut({ words }: { words: string | null }) {
  if (words === null) return null;
  return (
    <p className="absolute top-2 left-2 max-w-[min(28rem,calc(100%-4.5rem))] rounded-md border bg-panel px-2 py-1 text-xs text-muted">
      {words}
    </p>
  );
}

type Answers = { center: CodeSymbol | undefined; impact: Impact | null };

/** What the drawing needs to know of the chosen node; the lists ask the same, so it is asked once. */
function useAnswers({ repo, view }: Pick<OfGraph, "repo" | "view">): Answers {
  const node = view.node ?? "";
  const isBlast = node !== "" && view.tab === "blast";
  const around = graphQuery(repo, "neighbours", neighboursAsked(node, view.least));
  const reached = graphQuery(repo, "impact", impactAsked(node, { ...view, depth: useRested(view.depth) }));
  const center = useQuery({ ...around, enabled: node !== "" }).data?.center;
  const impact = useQuery({ ...reached, enabled: isBlast }).data;
  return { center: node === "" ? undefined : center, impact: (isBlast && impact) || null };
}

function shownOf(
  scene: Scene,
  places: Places,
  focus: number,
  impact: Impact | null,
  { by, level, isRings, least: sureness }: GraphView,
): Shown {
  if (impact !== null && isRings) {
    return { by, least: 0, marks: null, rings: ringsOf(impact, level) };
  }
  const least = SURENESS.indexOf(sureness);
  if (impact !== null) return { by, least, marks: impactMarks(scene, places, impact), rings: null };
  return { by, least, marks: focus >= 0 ? neighbourMarks(scene, focus, least) : null, rings: null };
}
