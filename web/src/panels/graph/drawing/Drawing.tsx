import { Maximize, ZoomIn, ZoomOut } from "lucide-react";
import { type ReactNode, type RefObject, useCallback, useEffect, useId, useRef, useState } from "react";
import { Button } from "@/parts/Button";
import { visibleLine } from "@/parts/visible";
import type { Point, Size } from "./camera";
import type { Drawer } from "./drawer";
import { lookOn } from "./look";
import type { Shown } from "./messages";
import type { Drawn, Scene } from "./scene";
import { pressed, useCamera } from "./useCamera";
import { usePointers } from "./usePointers";

type Props = {
  drawer: Drawer;
  scene: Scene;
  shown: Shown;
  /** The node to look at, or -1. */
  focus: number;
  label: string;
  onChoose: (id: string) => void;
  /** What lies on the drawing: its legend. */
  children: ReactNode;
};
type Hovered = Point & { node: number };

const NOTHING: Hovered = { node: -1, x: 0, y: 0 };
const ZOOM = 1.6;
const MOST_PIXELS_A_POINT = 2;

/** The drawing itself, which a worker paints. The lists beside it say the same in words. */
export default function Drawing({ drawer, scene, shown, focus, label, onChoose, children }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const help = useId();
  const drawn = shown.rings?.drawn ?? scene;
  const eye = useCamera(drawer, drawn);
  const [hovered, setHovered] = useState<Hovered>(NOTHING);
  const onHover = useCallback(
    (node: number, at: Point) => {
      setHovered((before) => (before.node === node ? before : { node, ...at }));
      eye.hover(node);
    },
    [eye],
  );
  const choose = (node: number) => onChoose(drawn.ids[node] ?? "");
  const pointers = usePointers({ host, eye, drawn, onHover, onChoose: choose });
  useCanvas(host, drawer, eye.resize);
  useEffect(() => drawer.tell({ type: "show", shown }), [drawer, shown]);
  useEffect(() => {
    if (focus >= 0) eye.lookAt(focus);
  }, [focus, eye]);
  return (
    <section
      aria-label={label}
      aria-describedby={help}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: else a keyboard could not move it
      tabIndex={0}
      onKeyDown={(event) => {
        if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey) return;
        if (pressed(eye, event.key)) event.preventDefault();
      }}
      className="relative h-full min-h-0 min-w-0 overflow-hidden bg-ground -outline-offset-2"
    >
      <p id={help} className="sr-only">
        Arrow keys move it, plus and minus zoom, 0 shows all of it. The lists say the same in words.
      </p>
      <div
        ref={host}
        {...pointers}
        className={`absolute inset-0 touch-none ${hovered.node >= 0 ? "cursor-pointer" : "cursor-grab active:cursor-grabbing"}`}
      />
      {hovered.node >= 0 ? <Tip scene={scene} drawn={drawn} hovered={hovered} /> : null}
      <div className="absolute top-2 right-2 grid gap-1">
        <Button aria-label="Zoom in" title="Zoom in (+)" className="px-2!" onClick={() => eye.zoom(ZOOM)}>
          <ZoomIn aria-hidden="true" className="size-4" />
        </Button>
        <Button
          aria-label="Zoom out"
          title="Zoom out (−)"
          className="px-2!"
          onClick={() => eye.zoom(1 / ZOOM)}
        >
          <ZoomOut aria-hidden="true" className="size-4" />
        </Button>
        <Button aria-label="Show all" title="Show all (0)" className="px-2!" onClick={eye.showAll}>
          <Maximize aria-hidden="true" className="size-4" />
        </Button>
      </div>
      {children}
    </section>
  );
}

/** A canvas in the host, handed over to the worker, which is told of its size and of the page's colours. */
function useCanvas(
  host: RefObject<HTMLDivElement | null>,
  drawer: Drawer,
  onResize: (size: Size) => void,
): void {
  const resize = useRef(onResize);
  resize.current = onResize;
  useEffect(() => {
    const element = host.current;
    if (element === null) return;
    const canvas = document.createElement("canvas");
    canvas.setAttribute("aria-hidden", "true");
    canvas.className = "block size-full";
    element.append(canvas);
    drawer.tell({ type: "canvas", canvas: canvas.transferControlToOffscreen() });
    const tellLook = () => drawer.tell({ type: "look", look: lookOn(element) });
    tellLook();
    const themed = new MutationObserver(tellLook);
    themed.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    const resized = new ResizeObserver(() => {
      const size = { width: element.clientWidth, height: element.clientHeight };
      if (size.width === 0 || size.height === 0) return;
      const ratio = Math.min(window.devicePixelRatio || 1, MOST_PIXELS_A_POINT);
      drawer.tell({ type: "size", size, ratio });
      resize.current(size);
    });
    resized.observe(element);
    return () => {
      themed.disconnect();
      resized.disconnect();
      canvas.remove();
    };
  }, [host, drawer]);
}

function Tip({ scene, drawn, hovered }: { scene: Scene; drawn: Drawn; hovered: Hovered }) {
  const fanIn = drawn === scene ? scene.fanIn[hovered.node] : undefined;
  return (
    <div
      aria-hidden="true"
      style={{ left: hovered.x, top: hovered.y }}
      className="pointer-events-none absolute z-10 max-w-80 translate-x-3 translate-y-3 rounded-md border bg-panel px-2 py-1 text-xs shadow-md"
    >
      <span className="font-mono break-all">{visibleLine(drawn.ids[hovered.node] ?? "")}</span>
      {fanIn === undefined ? null : (
        <span className="block text-muted">referred to by {fanIn.toLocaleString()}</span>
      )}
    </div>
  );
}
