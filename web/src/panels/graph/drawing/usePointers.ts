/** Fingers and mice on a drawing: one moves it, two zoom, a short one chooses, a mouse that rests over a node names it. */
import { type PointerEvent, type RefObject, useEffect, useRef } from "react";
import { nodeAt, type Point } from "./camera";
import type { Drawn } from "./scene";
import type { Eye } from "./useCamera";

type Given = {
  host: RefObject<HTMLElement | null>;
  eye: Eye;
  drawn: Drawn;
  onHover: (node: number, at: Point) => void;
  onChoose: (node: number) => void;
};

const STILL = 5;
const MOUSE_REACH = 4;
const FINGER_REACH = 14;
const WHEEL = 0.0016;
const PINCHED_WHEEL = 4;

export function usePointers({ host, eye, drawn, onHover, onChoose }: Given) {
  const down = useRef(new Map<number, Point>());
  const travelled = useRef(0);

  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    // React's own listener for the wheel may not keep the page from scrolling.
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      const strength = lines * WHEEL * (event.ctrlKey ? PINCHED_WHEEL : 1);
      eye.zoom(Math.exp(-event.deltaY * strength), pointIn(element, event));
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => element.removeEventListener("wheel", wheel);
  }, [host, eye]);

  const nodeUnder = (event: PointerEvent, reach: number) =>
    eye.camera ? nodeAt(drawn, eye.camera, pointIn(event.currentTarget, event), eye.size, reach) : -1;

  return {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      if (down.current.size === 0) travelled.current = 0;
      down.current.set(event.pointerId, pointIn(event.currentTarget, event));
    },
    onPointerMove(event: PointerEvent) {
      const before = down.current.get(event.pointerId);
      const now = pointIn(event.currentTarget, event);
      if (before === undefined) {
        if (event.pointerType === "mouse") onHover(nodeUnder(event, MOUSE_REACH), now);
        return;
      }
      travelled.current += Math.hypot(now.x - before.x, now.y - before.y);
      const other = [...down.current].find(([id]) => id !== event.pointerId)?.[1];
      down.current.set(event.pointerId, now);
      if (other === undefined) eye.move(now.x - before.x, now.y - before.y);
      else pinch(eye, before, now, other);
      onHover(-1, now);
    },
    onPointerUp(event: PointerEvent) {
      const wasAlone = down.current.size === 1;
      if (!down.current.delete(event.pointerId) || !wasAlone || travelled.current > STILL) return;
      const node = nodeUnder(event, event.pointerType === "mouse" ? MOUSE_REACH : FINGER_REACH);
      if (node >= 0) onChoose(node);
    },
    onPointerCancel(event: PointerEvent) {
      down.current.delete(event.pointerId);
    },
    onPointerLeave(event: PointerEvent) {
      onHover(-1, pointIn(event.currentTarget, event));
    },
  };
}

function pinch(eye: Eye, before: Point, now: Point, other: Point): void {
  const then = Math.hypot(before.x - other.x, before.y - other.y);
  const apart = Math.hypot(now.x - other.x, now.y - other.y);
  eye.move((now.x - before.x) / 2, (now.y - before.y) / 2);
  if (then > 0) eye.zoom(apart / then, { x: (now.x + other.x) / 2, y: (now.y + other.y) / 2 });
}

function pointIn(element: Element, event: { clientX: number; clientY: number }): Point {
  const { left, top } = element.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}
