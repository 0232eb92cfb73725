/** Loads a repository's graph, lays it out and draws it, away from the page: however large it is, the page never waits. */
import * as client from "@/wire/client";
import { asProblem } from "@/wire/problem";
import type { Level } from "@/wire/types";
import type { Camera, Size } from "./camera";
import { LineLayer } from "./lines";
import type { Look } from "./look";
import type { FromWorker, Shown, ToWorker } from "./messages";
import {
  batchesOf,
  labelOrder,
  litLines,
  type Picture,
  paintGround,
  paintLabels,
  paintLines,
  paintLitLines,
  paintNodes,
  type View,
} from "./paint";
import { type Scene, sceneOf } from "./scene";

const MOST_NODES = 10_000;
/** So many lines are drawn anew for each frame. */
const FEW_LINES = 1_500;
const DIMMED = 0.35;

const page = self as unknown as { postMessage: (message: FromWorker) => void };
const lines = new LineLayer();
let scene: Scene | null = null;
let pen: OffscreenCanvasRenderingContext2D | null = null;
let size: Size = { width: 1, height: 1 };
let ratio = 1;
let look: Look | null = null;
let shown: Shown = { by: "folder", least: 0, marks: null, rings: null };
let camera: Camera | null = null;
let hovered = -1;
let picture: Picture | null = null;
let isAsked = false;

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  switch (data.type) {
    case "load":
      void load(data.repo, data.level);
      return;
    case "canvas":
      pen = data.canvas.getContext("2d", { alpha: false });
      break;
    case "size":
      ({ size, ratio } = data);
      break;
    case "look":
      look = data.look;
      break;
    case "show":
      shown = data.shown;
      break;
    case "see":
      ({ camera, hovered } = data);
      break;
    default:
      data satisfies never;
  }
  if (data.type !== "see") outdate();
  ask();
};

async function load(repo: string, level: Level): Promise<void> {
  try {
    scene = sceneOf(await client.askGraph(repo, "graph", { level, limit: MOST_NODES }));
    page.postMessage({ type: "loaded", scene });
  } catch (error) {
    const { kind, status, detail, hint } = asProblem(error);
    page.postMessage({ type: "failed", problem: { type: kind, status, detail, hint: hint ?? undefined } });
  }
}

function outdate(): void {
  picture = null;
  lines.outdate();
}

function ask(): void {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(paint);
}

function paint(): void {
  isAsked = false;
  if (pen === null || look === null || camera === null || scene === null) return;
  picture ??= pictureOf(scene, look);
  const view: View = { camera, size, look, ratio };
  fitCanvas(pen);
  paintGround(pen, picture, view);
  if (shown.rings === null && paintAllLines(pen, picture, view)) ask();
  paintLitLines(pen, picture, view);
  paintNodes(pen, picture, view);
  paintLabels(pen, picture, view, hovered);
}

/** Whether there is more to do. */
function paintAllLines(pen: OffscreenCanvasRenderingContext2D, picture: Picture, view: View): boolean {
  const count = picture.drawn.links.from.length;
  if (count <= FEW_LINES && picture.marks === null) {
    paintLines(pen, picture, view, 0, count);
    return false;
  }
  const isMore = lines.advance(picture, view);
  lines.put(pen, view, picture.marks === null ? 1 : DIMMED);
  return isMore;
}

function pictureOf(scene: Scene, look: Look): Picture {
  const drawn = shown.rings?.drawn ?? scene;
  const marks = shown.rings?.marks ?? shown.marks;
  const groups = shown.rings ? new Uint8Array(drawn.x.length) : scene.groupings[shown.by].of;
  const { least } = shown;
  return {
    drawn,
    batches: batchesOf(groups, marks, look),
    marks,
    least,
    order: labelOrder(drawn, marks),
    lit: litLines(drawn, marks, least),
  };
}

function fitCanvas(pen: OffscreenCanvasRenderingContext2D): void {
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
  if (pen.canvas.width !== width) pen.canvas.width = width;
  if (pen.canvas.height !== height) pen.canvas.height = height;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
}
