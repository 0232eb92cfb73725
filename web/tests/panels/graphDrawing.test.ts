/** What is drawn, and where: all of it pure, so that it holds without a canvas. */
import { describe, expect, test } from "vitest";
import { between, boundsOf, fitted, nodeAt, toScreen, toWorld, zoomed } from "@/panels/graph/drawing/camera";
import { foldersOf, grouped } from "@/panels/graph/drawing/groups";
import { laidOut } from "@/panels/graph/drawing/layout";
import { COLOURS } from "@/panels/graph/drawing/look";
import { impactMarks, neighbourMarks, placeOf, placesIn, ROLES } from "@/panels/graph/drawing/marks";
import { batchesOf, labelOrder, litLines } from "@/panels/graph/drawing/paint";
import { ringsOf } from "@/panels/graph/drawing/rings";
import { labelOf, sceneOf } from "@/panels/graph/drawing/scene";
import { graph, impact, link, symbol } from "../support/graphs";

const SIZE = { width: 800, height: 600 };

describe("groups", () => {
  test("are the largest, and one of all others", () => {
    const names = Array.from({ length: 12 }, (_, group) => Array(12 - group).fill(`g${group}`)).flat();
    const { groups, of } = grouped(names);
    expect(groups.map(({ name }) => name)).toEqual(["g0", "g1", "g2", "g3", "g4", "g5", "g6", "others"]);
    expect(groups.reduce((sum, { count }) => sum + count, 0)).toBe(names.length);
    expect(of[names.indexOf("g11")]).toBe(7);
  });

  test("of folders go as deep as it takes to tell them apart", () => {
    const paths = ["src/shop/api/a.py", "src/shop/cart/b.py", "src/shop/money/c.py", "src/shop/mail/d.py"];
    expect(foldersOf(paths)).toEqual(["src/shop/api", "src/shop/cart", "src/shop/money", "src/shop/mail"]);
    expect(foldersOf(["setup.py", "a/b.py"])[0]).toBe("(top)");
  });
});

describe("the layout", () => {
  const folders = Array.from({ length: 400 }, (_, file) => ["src", `f${file % 7}`, `g${file % 3}`]);
  const radii = Float32Array.from(folders, (_, file) => 3 + (file % 11));

  test("lets no two nodes overlap", () => {
    const { x, y } = laidOut(folders, radii);
    for (let a = 0; a < x.length; a++) {
      for (let b = 0; b < a; b++) {
        const apart = Math.hypot((x[a] ?? 0) - (x[b] ?? 0), (y[a] ?? 0) - (y[b] ?? 0));
        expect(apart).toBeGreaterThan((radii[a] ?? 0) + (radii[b] ?? 0) - 0.01);
      }
    }
  });

  test("has every node within its folder, and every folder within its own", () => {
    const { x, y, area, areas } = laidOut(folders, radii);
    for (let node = 0; node < x.length; node++) {
      const around = areas[area[node] ?? -1];
      expect(around).toBeDefined();
      const away = Math.hypot((x[node] ?? 0) - (around?.x ?? 0), (y[node] ?? 0) - (around?.y ?? 0));
      expect(away + (radii[node] ?? 0)).toBeLessThan((around?.r ?? 0) + 0.01);
    }
    for (const { x, y, r, parent } of areas.filter((one) => one.parent >= 0)) {
      const around = areas[parent];
      expect(Math.hypot(x - (around?.x ?? 0), y - (around?.y ?? 0)) + r).toBeLessThan(
        (around?.r ?? 0) + 0.01,
      );
    }
  });

  test("shows folders with nothing else in them as one", () => {
    const { areas } = laidOut(
      [
        ["a", "b", "c"],
        ["a", "b", "d"],
      ],
      Float32Array.of(1, 1),
    );
    expect(areas.map(({ name }) => name).sort()).toEqual(["a/b", "c", "d"]);
  });

  test("is the same every time", () => {
    expect(laidOut(folders, radii)).toEqual(laidOut(folders, radii));
  });

  test("takes a path of a thousand folders", () => {
    const deep = Array.from({ length: 1000 }, (_, depth) => [
      ...Array.from({ length: depth }, (_, at) => `d${at}`),
    ]);
    expect(laidOut(deep, new Float32Array(1000).fill(1)).x).toHaveLength(1000);
  });
});

describe("the camera", () => {
  test("shows all there is", () => {
    const bounds = boundsOf([
      { x: -500, y: 0, r: 100 },
      { x: 900, y: 300, r: 50 },
    ]);
    const camera = fitted(bounds, SIZE);
    for (const corner of [
      { x: bounds.left, y: bounds.top },
      { x: bounds.right, y: bounds.bottom },
    ]) {
      const { x, y } = toScreen(camera, corner, SIZE);
      expect(x).toBeGreaterThanOrEqual(0);
      expect(x).toBeLessThanOrEqual(SIZE.width);
      expect(y).toBeGreaterThanOrEqual(0);
      expect(y).toBeLessThanOrEqual(SIZE.height);
    }
  });

  test("zooms around the pointer", () => {
    const camera = { x: 40, y: -20, scale: 0.7 };
    const at = { x: 123, y: 456 };
    const before = toWorld(camera, at, SIZE);
    const after = toWorld(zoomed(camera, 3, at, SIZE), at, SIZE);
    expect(after.x).toBeCloseTo(before.x);
    expect(after.y).toBeCloseTo(before.y);
  });

  test("never gets lost, however far one zooms", () => {
    let camera = { x: 0, y: 0, scale: 1 };
    for (let turn = 0; turn < 500; turn++) camera = zoomed(camera, 10, { x: 0, y: 0 }, SIZE);
    expect(camera.scale).toBeLessThan(100);
    for (let turn = 0; turn < 500; turn++) camera = zoomed(camera, 0.1, { x: 0, y: 0 }, SIZE);
    expect(camera.scale).toBeGreaterThan(0);
  });

  test("flies from one place to the other", () => {
    const [from, to] = [
      { x: 0, y: 0, scale: 1 },
      { x: 10, y: 20, scale: 4 },
    ];
    expect(between(from, to, 0)).toEqual(from);
    expect(between(from, to, 1)).toEqual(to);
  });

  test("finds the node under the pointer, or the nearest within reach", () => {
    const nodes = { x: Float32Array.of(0, 50), y: Float32Array.of(0, 0), r: Float32Array.of(10, 10) };
    const camera = { x: 0, y: 0, scale: 1 };
    const at = (x: number, reach: number) => nodeAt(nodes, camera, { x: 400 + x, y: 300 }, SIZE, reach);
    expect(at(5, 0)).toBe(0);
    expect(at(35, 0)).toBe(-1);
    expect(at(35, 14)).toBe(1);
  });
});

describe("a scene", () => {
  const scene = sceneOf(
    graph(
      [symbol("a/x.py"), symbol("a/y.py"), symbol("b/__init__.py")],
      [
        link("a/x.py", "a/y.py"),
        link("b/__init__.py", "a/y.py", { confidence: "by-name" }),
        link("a/x.py", "gone.py"),
      ],
    ),
  );

  test("has the lines whose ends are there, and counts who refers to what", () => {
    expect([...scene.links.from]).toEqual([0, 2]);
    expect([...scene.fanIn]).toEqual([0, 2, 0]);
    expect(scene.r[1]).toBeGreaterThan(scene.r[0] ?? 0);
  });

  test("names files by what tells them apart, and shows what would hide", () => {
    expect(scene.labels).toEqual(["x.py", "y.py", "b/__init__.py"]);
    expect(labelOf(symbol("a/\u202egnp.py"))).toBe("<U+202E>gnp.py");
    expect(labelOf(symbol("a.py::Cart.add", "method"))).toBe("Cart.add");
    expect(labelOf(symbol(`${"x".repeat(500)}.py`)).length).toBeLessThan(60);
  });

  test("lights the lines of the chosen node, as far as they are sure enough", () => {
    expect([...litLines(scene, neighbourMarks(scene, 1, 0), 0)]).toEqual([0, 1]);
    expect([...litLines(scene, neighbourMarks(scene, 1, 2), 2)]).toEqual([0]);
    expect([...litLines(scene, null, 0)]).toEqual([]);
    expect([...neighbourMarks(scene, 1, 2).role].map((role) => ROLES[role])).toEqual([
      "neighbour",
      "target",
      "none",
    ]);
  });

  test("paints every node once, and what is marked on top", () => {
    const marks = neighbourMarks(scene, 1, 0);
    const look = { ...COLOURS.light, ground: "", panel: "", line: "", ink: "", muted: "" };
    const batches = batchesOf(scene.groupings.folder.of, marks, look);
    expect(batches.flatMap(({ nodes }) => nodes).sort()).toEqual([0, 1, 2]);
    expect(batches.every(({ isDim }) => !isDim)).toBe(true);
    expect(labelOrder(scene, marks)[0]).toBe(1);
  });

  test("marks the module of a symbol that is reached", () => {
    const places = placesIn(scene);
    expect(placeOf(places, symbol("a/y.py::f", "function"))).toBe(1);
    const marks = impactMarks(
      scene,
      places,
      impact({
        targets: [symbol("a/y.py")],
        symbols: [{ symbol: symbol("a/x.py::f", "function"), depth: 2, confidence: "resolved", why: [] }],
      }),
    );
    expect([...marks.role].map((role) => ROLES[role])).toEqual(["hit", "target", "none"]);
    expect(marks.depth[0]).toBe(2);
  });
});

describe("rings", () => {
  const reached = impact({
    targets: [symbol("c.py::Cart", "class")],
    symbols: [
      {
        symbol: symbol("a.py::put", "function"),
        depth: 1,
        confidence: "resolved",
        why: [link("a.py::put", "c.py::Cart.add")],
      },
      {
        symbol: symbol("b.py::main", "function"),
        depth: 2,
        confidence: "inferred",
        why: [
          link("b.py::main", "a.py::put", { confidence: "inferred" }),
          link("a.py::put", "c.py::Cart.add"),
        ],
      },
    ],
  });

  test("have what was asked about in the middle and the rest as far out as it is away", () => {
    const { drawn, marks } = ringsOf(reached, "symbols");
    const away = [...drawn.x].map((x, node) => Math.round(Math.hypot(x, drawn.y[node] ?? 0)));
    expect(drawn.ids).toEqual(["c.py::Cart", "a.py::put", "b.py::main"]);
    expect(away[0]).toBe(0);
    expect(away[1]).toBeGreaterThan(0);
    expect(away[2]).toBeGreaterThan(away[1] ?? 0);
    expect([...marks.depth]).toEqual([0, 1, 2]);
    expect(drawn.areas.map(({ name }) => name)).toEqual(["2 away", "1 away"]);
  });

  test("draw the path of every hit, also to a method of what was asked about", () => {
    const { links } = ringsOf(reached, "symbols").drawn;
    expect([...links.from].map((from, line) => [from, links.to[line]])).toEqual([
      [1, 0],
      [2, 1],
    ]);
    expect([...links.sure]).toEqual([2, 1]);
  });

  test("turn the arrows around when asked what it needs", () => {
    const needed = impact({
      direction: "dependencies",
      targets: [symbol("c.py")],
      modules: [
        {
          path: "m.py",
          name: "m",
          depth: 1,
          confidence: "resolved",
          symbols: 1,
          is_test: false,
          why: [link("c.py", "m.py::f")],
        },
      ],
    });
    const { ids, links } = ringsOf(needed, "modules").drawn;
    expect(ids).toEqual(["c.py", "m.py"]);
    expect([links.from[0], links.to[0]]).toEqual([0, 1]);
  });

  test("say how many they leave out", () => {
    const many = impact({
      targets: [symbol("c.py")],
      tests: Array.from({ length: 90 }, (_, number) => ({
        symbol: symbol(`t.py::test_${number}`, "function"),
        depth: 1,
        confidence: "resolved" as const,
        reaches: 1,
        is_named_after: false,
        score: 4.1,
        reasons: [],
        why: [],
      })),
      totals: { modules: 0, symbols: 0, tests: 611, endpoints: 0 },
    });
    const { drawn, left } = ringsOf(many, "symbols");
    expect(drawn.ids.length - 1 + left).toBe(611);
  });
});

describe.each([
  ["light", "#f6f7f8", "#ffffff"],
  ["dark", "#101316", "#171b1f"],
] as const)("the colours in the %s theme", (theme, ...grounds) => {
  const { groups, hits, target, neighbour, test: tests, endpoint } = COLOURS[theme];
  test.each([...groups, ...hits, target, neighbour, tests, endpoint])("%s stands out", (colour) => {
    for (const ground of grounds) expect(contrast(colour, ground)).toBeGreaterThanOrEqual(3);
  });
});

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
