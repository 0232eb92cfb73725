/** The one hook that owns the worker that draws. */
import { useEffect, useState } from "react";
import { asProblem, type ProblemError } from "@/wire/problem";
import type { Level, Repository } from "@/wire/types";
import { Drawer } from "./drawer";
import type { Scene } from "./scene";

export type CodeMap =
  | { face: "loading" }
  | { face: "failed"; problem: ProblemError }
  | { face: "working"; drawer: Drawer; scene: Scene };

/** The map of a repository as it was built last, and how to try again. */
export function useMap({ id, built_at: stamp }: Repository, level: Level): [CodeMap, () => void] {
  const [map, setMap] = useState<CodeMap>({ face: "loading" });
  const [tries, setTries] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another stamp or try is what makes it load again
  useEffect(() => {
    let drawer: Drawer | null = null;
    let isGone = false;
    const show = (next: CodeMap) => (isGone ? undefined : setMap(next));
    const load = async () => {
      const own = new Drawer();
      drawer = own;
      show({ face: "working", drawer: own, scene: await own.load(id, level) });
    };
    show({ face: "loading" });
    load().catch((error: unknown) => show({ face: "failed", problem: asProblem(error) }));
    return () => {
      isGone = true;
      drawer?.end();
    };
  }, [id, level, stamp, tries]);
  return [map, () => setTries((count) => count + 1)];
}
