/** Where one looks from: moved by pointers, wheel and keys, told to the worker once a frame, never a part of React's state. */
import { useCallback, useEffect, useMemo, useRef } from "react";
import { between, type Camera, fitted, moved, type Point, type Size, toScreen, zoomed } from "./camera";
import type { Drawer } from "./drawer";
import type { Drawn } from "./scene";

const STEP = 60;
const ZOOM_STEP = 1.4;
const FLIGHT = 280;
const SEEN_FROM = 10;

export type Eye = {
  /** Where one looks from now; null before there is room to look at. */
  readonly camera: Camera | null;
  readonly size: Size;
  resize: (size: Size) => void;
  hover: (node: number) => void;
  move: (right: number, down: number) => void;
  zoom: (factor: number, at?: Point) => void;
  showAll: () => void;
  /** Go so near that the node is seen; what is seen well already stays where it is. */
  lookAt: (node: number) => void;
};

export function useCamera(drawer: Drawer, drawn: Drawn): Eye {
  const camera = useRef<Camera | null>(null);
  const size = useRef<Size>({ width: 0, height: 0 });
  const hovered = useRef(-1);
  const asked = useRef(0);
  const shown = useRef<Drawn | null>(null);

  const tell = useCallback(() => {
    cancelAnimationFrame(asked.current);
    asked.current = requestAnimationFrame(() => {
      if (camera.current) drawer.tell({ type: "see", camera: camera.current, hovered: hovered.current });
    });
  }, [drawer]);
  const see = useCallback(
    (next: Camera) => {
      camera.current = next;
      tell();
    },
    [tell],
  );
  const fly = useCallback(
    (to: Camera) => {
      const from = camera.current;
      if (from === null || window.matchMedia("(prefers-reduced-motion: reduce)").matches) return see(to);
      const began = performance.now();
      let last = from;
      const step = () => {
        // Whoever moves meanwhile has the say.
        if (camera.current !== last) return;
        const share = Math.min(1, (performance.now() - began) / FLIGHT);
        last = between(from, to, share);
        see(last);
        if (share < 1) requestAnimationFrame(step);
      };
      step();
    },
    [see],
  );

  const eye = useMemo<Eye>(() => {
    const middle = () => ({ x: size.current.width / 2, y: size.current.height / 2 });
    return {
      get camera() {
        return camera.current;
      },
      get size() {
        return size.current;
      },
      resize(next) {
        size.current = next;
        if (shown.current === drawn) return tell();
        shown.current = drawn;
        see(fitted(drawn.bounds, next));
      },
      hover(node) {
        if (hovered.current === node) return;
        hovered.current = node;
        tell();
      },
      move(right, down) {
        if (camera.current) see(moved(camera.current, right, down));
      },
      zoom(factor, at = middle()) {
        if (camera.current) see(zoomed(camera.current, factor, at, size.current));
      },
      showAll: () => fly(fitted(drawn.bounds, size.current)),
      lookAt(node) {
        if (camera.current === null) return;
        const place = { x: drawn.x[node] ?? 0, y: drawn.y[node] ?? 0 };
        const scale = Math.max(camera.current.scale, SEEN_FROM / (drawn.r[node] ?? 1));
        const at = toScreen(camera.current, place, size.current);
        if (scale === camera.current.scale && isWithin(at, size.current)) return;
        fly({ ...place, scale });
      },
    };
  }, [drawn, see, fly, tell]);

  // Another drawing is seen whole at first.
  useEffect(() => {
    if (size.current.width > 0) eye.resize(size.current);
  }, [eye]);
  useEffect(() => () => cancelAnimationFrame(asked.current), []);
  return eye;
}

/** Do what a key does to an eye; whether it did anything. */
export function pressed(eye: Eye, key: string): boolean {
  const acts: Record<string, () => void> = {
    ArrowLeft: () => eye.move(STEP, 0),
    ArrowRight: () => eye.move(-STEP, 0),
    ArrowUp: () => eye.move(0, STEP),
    ArrowDown: () => eye.move(0, -STEP),
    "+": () => eye.zoom(ZOOM_STEP),
    "=": () => eye.zoom(ZOOM_STEP),
    "-": () => eye.zoom(1 / ZOOM_STEP),
    "0": () => eye.showAll(),
  };
  const act = Object.hasOwn(acts, key) ? acts[key] : undefined;
  act?.();
  return act !== undefined;
}

const isWithin = ({ x, y }: Point, { width, height }: Size) =>
  x > width * 0.06 && x < width * 0.94 && y > height * 0.06 && y < height * 0.94;
