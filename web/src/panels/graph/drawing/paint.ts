/** Puts a drawing on a canvas. Knows nothing of workers or pages; the lines of large graphs are given in slices. */
import { type Camera, type Size, toScreen } from "./camera";
import { GROUP_SHAPES, type Look, ROLE_SHAPES, roleColour, type Shape } from "./look";
import { type Marks, ROLES } from "./marks";
import type { Drawn } from "./scene";

/** All that decides what is seen, but for where one looks from. */
export type Picture = {
  drawn: Drawn;
  batches: readonly Batch[];
  marks: Marks | null;
  /** How sure a line has to be to be drawn. */
  least: number;
  /** The nodes by how much they should have a label. */
  order: Uint32Array;
  /** The lines that stand out. */
  lit: Uint32Array;
};
export type View = { camera: Camera; size: Size; look: Look; ratio: number };
type Pen = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

const SMALLEST = 1.1;
const PLAIN_BELOW = 2.4;
const LABELLED_FROM = 6;
const MOST_LABELS = 90;
const MOST_LIT = 3_000;
const MOST_HEADS = 600;
const HEAD = 6;
const SHORTEST_LINE = 2;
const DIM = 0.16;
const FONT = "ui-sans-serif, system-ui, sans-serif";
const DASHES: readonly (readonly number[])[] = [[1.5, 3], [5, 3], []];

/** The nodes by size, those that are marked first. */
export function labelOrder({ r }: Drawn, marks: Marks | null): Uint32Array {
  const weight = (node: number) => {
    const role = ROLES[marks?.role[node] ?? 0];
    return (role === "target" ? 2_000 : role && role !== "none" ? 1_000 : 0) + (r[node] ?? 0);
  };
  return Uint32Array.from(r.keys()).sort((a, b) => weight(b) - weight(a) || a - b);
}

/** The lines that matter for what is marked, as far as they are sure enough. */
export function litLines({ links }: Drawn, marks: Marks | null, least: number): Uint32Array {
  const lit: number[] = [];
  for (let link = 0; marks !== null && link < links.from.length && lit.length < MOST_LIT; link++) {
    if ((links.sure[link] ?? 0) < least) continue;
    if (isLit(marks, links.from[link] ?? 0, links.to[link] ?? 0)) lit.push(link);
  }
  return Uint32Array.from(lit);
}

export function paintGround(pen: Pen, { drawn }: Picture, { camera, size, look }: View): void {
  pen.fillStyle = look.ground;
  pen.fillRect(0, 0, size.width, size.height);
  pen.lineWidth = 1;
  pen.strokeStyle = look.line;
  for (const area of drawn.areas) {
    const { x, y } = toScreen(camera, area, size);
    const r = area.r * camera.scale;
    if (r < 2 || area.name === "" || isOutside(x, y, r, size)) continue;
    pen.beginPath();
    pen.arc(x, y, r, 0, 2 * Math.PI);
    pen.fillStyle = area.depth % 2 === 0 ? look.panel : look.ground;
    pen.fill();
    pen.stroke();
  }
}

/** The lines from one place in the list to another, thin and pale; what is off the screen is left out. */
export function paintLines(
  pen: Pen,
  picture: Picture,
  { camera, size, look, ratio }: View,
  begin: number,
  end: number,
) {
  const { drawn, least } = picture;
  const { from, to, sure, bendX, bendY } = drawn.links;
  const { scale } = camera;
  const [left, top] = [size.width / 2 - camera.x * scale, size.height / 2 - camera.y * scale];
  pen.beginPath();
  for (let link = begin; link < Math.min(end, from.length); link++) {
    if ((sure[link] ?? 0) < least) continue;
    const [a, b] = [from[link] ?? 0, to[link] ?? 0];
    const [ax, ay] = [(drawn.x[a] ?? 0) * scale + left, (drawn.y[a] ?? 0) * scale + top];
    const [bx, by] = [(drawn.x[b] ?? 0) * scale + left, (drawn.y[b] ?? 0) * scale + top];
    if (Math.max(ax, bx) < 0 || Math.min(ax, bx) > size.width) continue;
    if (Math.max(ay, by) < 0 || Math.min(ay, by) > size.height) continue;
    if (Math.abs(ax - bx) + Math.abs(ay - by) < SHORTEST_LINE) continue;
    pen.moveTo(ax, ay);
    pen.quadraticCurveTo((bendX[link] ?? 0) * scale + left, (bendY[link] ?? 0) * scale + top, bx, by);
  }
  pen.strokeStyle = look.muted;
  // A stroke of no more than one pixel is drawn ten times as fast as a wider one.
  pen.lineWidth = 0.9 / ratio;
  pen.globalAlpha = paleness(from.length);
  pen.stroke();
  pen.globalAlpha = 1;
}

/** The lines that matter for what is chosen, with their heads; dashed where they are less sure. */
export function paintLitLines(pen: Pen, picture: Picture, { camera, size, look }: View): void {
  const { drawn, lit } = picture;
  const { from, to, sure, bendX, bendY } = drawn.links;
  const alpha = Math.min(0.6, Math.max(0.15, 8 / Math.sqrt(Math.max(lit.length, 1))));
  pen.strokeStyle = look.ink;
  pen.fillStyle = look.ink;
  pen.lineWidth = 1.2;
  for (const link of lit) {
    const [a, b] = [from[link] ?? 0, to[link] ?? 0];
    const start = toScreen(camera, { x: drawn.x[a] ?? 0, y: drawn.y[a] ?? 0 }, size);
    const bend = toScreen(camera, { x: bendX[link] ?? 0, y: bendY[link] ?? 0 }, size);
    const stop = toScreen(camera, { x: drawn.x[b] ?? 0, y: drawn.y[b] ?? 0 }, size);
    pen.globalAlpha = alpha;
    pen.setLineDash(DASHES[sure[link] ?? 0] as number[]);
    pen.beginPath();
    pen.moveTo(start.x, start.y);
    pen.quadraticCurveTo(bend.x, bend.y, stop.x, stop.y);
    pen.stroke();
    if (lit.length > MOST_HEADS) continue;
    pen.globalAlpha = Math.min(1, 1.5 * alpha);
    paintHead(pen, bend, stop, Math.max((drawn.r[b] ?? 0) * camera.scale, SMALLEST));
  }
  pen.setLineDash([]);
  pen.globalAlpha = 1;
}

export function paintNodes(pen: Pen, picture: Picture, view: View): void {
  const { camera, size } = view;
  const { drawn, batches, marks } = picture;
  const { scale } = camera;
  const [left, top] = [size.width / 2 - camera.x * scale, size.height / 2 - camera.y * scale];
  for (const { colour, shape, isDim, nodes } of batches) {
    pen.fillStyle = colour;
    pen.globalAlpha = isDim ? DIM : 1;
    for (const node of nodes) {
      const r = Math.max((drawn.r[node] ?? 0) * scale, SMALLEST);
      const [x, y] = [(drawn.x[node] ?? 0) * scale + left, (drawn.y[node] ?? 0) * scale + top];
      if (isOutside(x, y, r, size)) continue;
      if (r < PLAIN_BELOW) pen.fillRect(x - r, y - r, 2 * r, 2 * r);
      else fillShape(pen, shape, x, y, r);
    }
  }
  pen.globalAlpha = 1;
  if (marks !== null) paintDepths(pen, drawn, marks, view);
}

/** The names of what is large enough or marked, as long as none covers another. */
export function paintLabels(pen: Pen, picture: Picture, { camera, size, look }: View, hovered: number): void {
  const { drawn, marks, order } = picture;
  const taken: Box[] = [];
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  for (const area of drawn.areas) {
    const edge = { x: area.x + area.r * Math.cos(area.angle), y: area.y + area.r * Math.sin(area.angle) };
    const at = toScreen(camera, edge, size);
    if (area.r * camera.scale > 34 && area.name) {
      write(pen, area.name, at.x, at.y + 1, look, taken, size, { font: `600 11px ${FONT}`, ink: look.muted });
    }
  }
  for (const node of hovered < 0 ? order : [hovered, ...order]) {
    if (taken.length >= MOST_LABELS) break;
    const r = (drawn.r[node] ?? 0) * camera.scale;
    const isMarked = (marks?.role[node] ?? 0) > 0;
    if (node !== hovered && !isMarked && (r < LABELLED_FROM || marks !== null)) {
      if (marks !== null || order.length > 40) break;
    }
    const at = toScreen(camera, { x: drawn.x[node] ?? 0, y: drawn.y[node] ?? 0 }, size);
    if (isOutside(at.x, at.y, r, size)) continue;
    const font = `${isMarked || node === hovered ? 600 : 400} 11px ${FONT}`;
    write(pen, drawn.labels[node] ?? "", at.x, at.y + Math.max(r, SMALLEST) + 9, look, taken, size, {
      font,
      ink: look.ink,
    });
  }
}

type Box = readonly [number, number, number, number];

function write(
  pen: Pen,
  text: string,
  x: number,
  y: number,
  look: Look,
  taken: Box[],
  size: Size,
  { font, ink }: { font: string; ink: string },
): void {
  pen.font = font;
  const half = pen.measureText(text).width / 2 + 3;
  const box = [x - half, y - 8, x + half, y + 8] as const;
  if (box[2] < 0 || box[0] > size.width || taken.some((other) => overlaps(box, other))) return;
  taken.push(box);
  pen.lineWidth = 3.5;
  pen.strokeStyle = look.ground;
  pen.strokeText(text, x, y);
  pen.fillStyle = ink;
  pen.fillText(text, x, y);
}

const overlaps = (a: Box, b: Box) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];

/** How far away a hit is, in its middle: a number says what the colour says. */
function paintDepths(pen: Pen, drawn: Drawn, marks: Marks, { camera, size, look }: View): void {
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillStyle = look.panel;
  for (let node = 0; node < marks.role.length; node++) {
    const role = ROLES[marks.role[node] ?? 0];
    const r = (drawn.r[node] ?? 0) * camera.scale;
    if (r < 6 || role === "none" || role === "target" || role === "neighbour") continue;
    const at = toScreen(camera, { x: drawn.x[node] ?? 0, y: drawn.y[node] ?? 0 }, size);
    pen.font = `700 ${Math.min(14, Math.round(r * 1.2))}px ${FONT}`;
    pen.fillText(String(marks.depth[node]), at.x, at.y + 0.5);
  }
}

function paintHead(pen: Pen, from: { x: number; y: number }, to: { x: number; y: number }, r: number): void {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const [x, y] = [to.x - r * Math.cos(angle), to.y - r * Math.sin(angle)];
  pen.beginPath();
  pen.moveTo(x, y);
  for (const side of [-0.4, 0.4])
    pen.lineTo(x - HEAD * Math.cos(angle + side), y - HEAD * Math.sin(angle + side));
  pen.fill();
}

/** Nodes of one colour and shape. */
export type Batch = { colour: string; shape: Shape; isDim: boolean; nodes: number[] };

/** The nodes by what they look like; those that are marked last, so that they are on top. */
export function batchesOf(groups: Uint8Array, marks: Marks | null, look: Look): Batch[] {
  const plain = new Map<number, Batch>();
  const marked = new Map<string, Batch>();
  for (let node = 0; node < groups.length; node++) {
    const role = ROLES[marks?.role[node] ?? 0] ?? "none";
    if (role === "none") {
      const group = groups[node] ?? 0;
      const shape = GROUP_SHAPES[group] ?? [];
      put(plain, group, look.groups[group] ?? look.muted, shape, marks !== null, node);
    } else {
      const colour = roleColour(look, role, marks?.depth[node] ?? 0);
      put(marked, role + colour, colour, ROLE_SHAPES[role], false, node);
    }
  }
  return [...plain.values(), ...marked.values()];
}

function put<Key>(
  batches: Map<Key, Batch>,
  key: Key,
  colour: string,
  shape: Shape,
  isDim: boolean,
  node: number,
): void {
  const known = batches.get(key);
  if (known) known.nodes.push(node);
  else batches.set(key, { colour, shape, isDim, nodes: [node] });
}

function fillShape(pen: Pen, shape: Shape, x: number, y: number, r: number): void {
  pen.beginPath();
  if (shape.length === 0) pen.arc(x, y, r, 0, 2 * Math.PI);
  for (const [right, down] of shape) pen.lineTo(x + right * r, y + down * r);
  pen.fill();
}

function isLit(marks: Marks, a: number, b: number): boolean {
  const [one, other] = [ROLES[marks.role[a] ?? 0], ROLES[marks.role[b] ?? 0]];
  if (marks.lines === "of targets") return one === "target" || other === "target";
  return one !== "none" && other !== "none";
}

/** The more lines, the paler each. */
const paleness = (count: number) => Math.min(0.45, Math.max(0.045, 8 / Math.sqrt(Math.max(count, 1))));

const isOutside = (x: number, y: number, r: number, { width, height }: Size) =>
  x + r < 0 || y + r < 0 || x - r > width || y - r > height;
