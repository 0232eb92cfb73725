/** From places in a drawing to places on the screen and back. Pure. */

/** What is in the middle of the screen, and how large things are. */
export type Camera = { x: number; y: number; scale: number };
export type Size = { width: number; height: number };
export type Point = { x: number; y: number };
/** The corners of all there is. */
export type Bounds = { left: number; top: number; right: number; bottom: number };

const MARGIN = 0.94;
const SMALLEST = 0.002;
const LARGEST = 16;
const CLOSEST_AT_FIRST = 2.5;

/** All of it, in the middle. */
export function fitted({ left, top, right, bottom }: Bounds, { width, height }: Size): Camera {
  const scale = Math.min(width / Math.max(right - left, 1), height / Math.max(bottom - top, 1));
  return { x: (left + right) / 2, y: (top + bottom) / 2, scale: held(scale * MARGIN, CLOSEST_AT_FIRST) };
}

export const moved = (camera: Camera, right: number, down: number): Camera => ({
  ...camera,
  x: camera.x - right / camera.scale,
  y: camera.y - down / camera.scale,
});

/** Nearer or further, while what is at a point of the screen stays there. */
export function zoomed(camera: Camera, factor: number, at: Point, size: Size): Camera {
  const scale = held(camera.scale * factor);
  const { x, y } = toWorld(camera, at, size);
  return {
    x: x - (at.x - size.width / 2) / scale,
    y: y - (at.y - size.height / 2) / scale,
    scale,
  };
}

export const toWorld = (camera: Camera, at: Point, { width, height }: Size): Point => ({
  x: camera.x + (at.x - width / 2) / camera.scale,
  y: camera.y + (at.y - height / 2) / camera.scale,
});

export const toScreen = (camera: Camera, at: Point, { width, height }: Size): Point => ({
  x: (at.x - camera.x) * camera.scale + width / 2,
  y: (at.y - camera.y) * camera.scale + height / 2,
});

/** Part of the way from one to the other; scales are gone through evenly. */
export function between(from: Camera, to: Camera, share: number): Camera {
  const eased = share * (2 - share);
  return {
    x: from.x + (to.x - from.x) * eased,
    y: from.y + (to.y - from.y) * eased,
    scale: from.scale * (to.scale / from.scale) ** eased,
  };
}

type Nodes = { x: Float32Array; y: Float32Array; r: Float32Array };

/** The node at a point of the screen, or the nearest that a finger may have meant; -1 if there is none. */
export function nodeAt(nodes: Nodes, camera: Camera, at: Point, size: Size, reach: number): number {
  const { x, y } = toWorld(camera, at, size);
  const slack = reach / camera.scale;
  let [best, nearest] = [-1, 0];
  for (let node = 0; node < nodes.x.length; node++) {
    const away = Math.hypot((nodes.x[node] ?? 0) - x, (nodes.y[node] ?? 0) - y) - (nodes.r[node] ?? 0);
    if (away < slack && (best < 0 || away < nearest)) [best, nearest] = [node, away];
  }
  return best;
}

/** The corners around circles. */
export function boundsOf(circles: readonly (Point & { r: number })[]): Bounds {
  const bounds = { left: 0, top: 0, right: 0, bottom: 0 };
  for (const [place, { x, y, r }] of circles.entries()) {
    bounds.left = place === 0 ? x - r : Math.min(bounds.left, x - r);
    bounds.top = place === 0 ? y - r : Math.min(bounds.top, y - r);
    bounds.right = place === 0 ? x + r : Math.max(bounds.right, x + r);
    bounds.bottom = place === 0 ? y + r : Math.max(bounds.bottom, y + r);
  }
  return bounds;
}

const held = (scale: number, most = LARGEST) => Math.min(most, Math.max(SMALLEST, scale));
