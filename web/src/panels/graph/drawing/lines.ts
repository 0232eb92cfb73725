/** The lines of a graph as a layer of their own: drawn a little at a time, and moved as a whole until the next is ready. */
import type { Camera, Size } from "./camera";
import { type Picture, paintLines, type View } from "./paint";

type Sheet = { canvas: OffscreenCanvas; pen: OffscreenCanvasRenderingContext2D; camera: Camera };
type Making = Sheet & { view: View; picture: Picture; next: number };

const SLICE = 60;
const SLICES_AT_ONCE = 4;
const MOVING = 8;
const RESTING = 40;

export class LineLayer {
  #shown: Sheet | null = null;
  #spare: Sheet | null = null;
  #making: Making | null = null;
  #isStale = true;

  /** What was drawn is of another picture. */
  outdate(): void {
    this.#isStale = true;
    this.#making = null;
  }

  /** Draw some more, as long as a frame allows; whether there is more to do. */
  advance(picture: Picture, view: View): boolean {
    if (this.#making === null) {
      if (!this.#isStale && this.#shown && isSame(this.#shown.camera, view.camera)) return false;
      this.#making = { ...this.#blank(view.size, view.ratio), camera: view.camera, view, picture, next: 0 };
      this.#spare = null;
      this.#isStale = false;
    }
    const making = this.#making;
    const patience = isSame(making.camera, view.camera) ? RESTING : MOVING;
    for (const until = performance.now() + patience; performance.now() < until; ) {
      if (making.next >= making.picture.drawn.links.from.length) return this.#finish(making, view);
      paintSome(making);
    }
    return true;
  }

  /** Put the last finished sheet where it belongs now. */
  put(pen: OffscreenCanvasRenderingContext2D, { camera, size }: View, alpha: number): void {
    if (this.#shown === null) return;
    const { canvas, camera: then } = this.#shown;
    const scale = camera.scale / then.scale;
    const left = (then.x - camera.x) * camera.scale + (size.width / 2) * (1 - scale);
    const top = (then.y - camera.y) * camera.scale + (size.height / 2) * (1 - scale);
    pen.globalAlpha = alpha;
    pen.drawImage(canvas, left, top, size.width * scale, size.height * scale);
    pen.globalAlpha = 1;
  }

  #finish(making: Making, view: View): boolean {
    this.#spare = this.#shown;
    this.#shown = making;
    this.#making = null;
    return !isSame(making.camera, view.camera);
  }

  #blank({ width, height }: Size, ratio: number): Sheet {
    const canvas = this.#spare?.canvas ?? new OffscreenCanvas(1, 1);
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    const pen = canvas.getContext("2d", { willReadFrequently: true });
    if (pen === null) throw new Error("This browser gives no canvas.");
    pen.scale(ratio, ratio);
    return { canvas, pen, camera: { x: 0, y: 0, scale: 1 } };
  }
}

/** Strokes wait until somebody asks for what they drew: asking for one pixel makes the clock tell the truth. */
function paintSome(making: Making): void {
  for (let slice = 0; slice < SLICES_AT_ONCE; slice++) {
    paintLines(making.pen, making.picture, making.view, making.next, making.next + SLICE);
    making.next += SLICE;
  }
  making.pen.getImageData(0, 0, 1, 1);
}

const isSame = (a: Camera, b: Camera) => a.x === b.x && a.y === b.y && a.scale === b.scale;
