/** What the page and the worker that draws tell each other. */
import type { Level, ProblemDetails } from "@/wire/types";
import type { Camera, Size } from "./camera";
import type { By } from "./groups";
import type { Look } from "./look";
import type { Marks } from "./marks";
import type { Rings } from "./rings";
import type { Scene } from "./scene";

/** What is to be seen: the map, or rings in its place. */
export type Shown = { by: By; least: number; marks: Marks | null; rings: Rings | null };

export type ToWorker =
  | { type: "load"; repo: string; level: Level }
  | { type: "canvas"; canvas: OffscreenCanvas }
  | { type: "size"; size: Size; ratio: number }
  | { type: "look"; look: Look }
  | { type: "show"; shown: Shown }
  | { type: "see"; camera: Camera; hovered: number };

export type FromWorker =
  | { type: "loaded"; scene: Scene }
  | { type: "failed"; problem: Partial<ProblemDetails> & { detail: string } };
