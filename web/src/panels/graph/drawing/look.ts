/** Colours and shapes of a drawing. Each group and each role has a shape too, so that no colour is needed to tell them apart. */
import type { Role } from "./marks";

export type Theme = "light" | "dark";
type Colours = { groups: readonly string[]; hits: readonly string[] } & Record<
  Exclude<Role, "none" | "hit">,
  string
>;
/** The page's own colours, and those that only a drawing has. */
export type Look = Colours & { ground: string; panel: string; line: string; ink: string; muted: string };

/** Corners on a circle of radius one; none for the circle itself. */
export type Shape = readonly (readonly [number, number])[];

export const COLOURS: Record<Theme, Colours> = {
  light: {
    groups: ["#1b66a8", "#a9500a", "#2a7a34", "#873a97", "#b3263e", "#00736a", "#6b5d00", "#59626d"],
    target: "#0f6b64",
    neighbour: "#1b56b3",
    hits: ["#ab1f2b", "#a85c00", "#8a7200"],
    test: "#17693a",
    endpoint: "#7a2b8a",
  },
  dark: {
    groups: ["#6fb3f2", "#f0a35e", "#7bcf80", "#d79be6", "#ff8fa0", "#5fd0c0", "#d9c75a", "#a0aab4"],
    target: "#4cc7b9",
    neighbour: "#86b6ff",
    hits: ["#ff8f8f", "#e8b04f", "#d6cf74"],
    test: "#6cce90",
    endpoint: "#dcaef2",
  },
};

const CIRCLE: Shape = [];
const SQUARE: Shape = polygon(4, Math.PI / 4, 1.15);
const TRIANGLE: Shape = polygon(3, -Math.PI / 2, 1.25);
const DIAMOND: Shape = polygon(4, 0, 1.2);
const TURNED_TRIANGLE: Shape = polygon(3, Math.PI / 2, 1.25);
const PLUS: Shape = plus(1.15, 0.42);
const BAR: Shape = [
  [-1.25, -0.55],
  [1.25, -0.55],
  [1.25, 0.55],
  [-1.25, 0.55],
];

/** The shape of each group, in the order of the groups. */
export const GROUP_SHAPES: readonly Shape[] = [
  CIRCLE,
  SQUARE,
  TRIANGLE,
  DIAMOND,
  polygon(6, 0, 1.1),
  PLUS,
  TURNED_TRIANGLE,
  BAR,
];

export const ROLE_SHAPES: Record<Exclude<Role, "none">, Shape> = {
  target: SQUARE,
  neighbour: CIRCLE,
  hit: CIRCLE,
  test: TRIANGLE,
  endpoint: DIAMOND,
};

/** The colour of a role; hits have one for each distance, the furthest share the last. */
export function roleColour(colours: Colours, role: Exclude<Role, "none">, depth: number): string {
  if (role !== "hit") return colours[role];
  return colours.hits[Math.min(Math.max(depth, 1), colours.hits.length) - 1] ?? colours.neighbour;
}

export function lookOn(element: Element): Look {
  const style = getComputedStyle(element);
  const own = (name: string) => style.getPropertyValue(`--${name}`).trim() || "gray";
  return {
    ...COLOURS[document.documentElement.dataset.theme === "dark" ? "dark" : "light"],
    ground: own("ground"),
    panel: own("panel"),
    line: own("line"),
    ink: own("ink"),
    muted: own("muted"),
  };
}

function polygon(corners: number, first: number, size: number): Shape {
  return Array.from({ length: corners }, (_, corner) => {
    const angle = first + (2 * Math.PI * corner) / corners;
    return [size * Math.cos(angle), size * Math.sin(angle)] as const;
  });
}

function plus(long: number, half: number): Shape {
  return [
    [-half, -long],
    [half, -long],
    [half, -half],
    [long, -half],
    [long, half],
    [half, half],
    [half, long],
    [-half, long],
    [-half, half],
    [-long, half],
    [-long, -half],
    [-half, -half],
  ];
}
