import { describe, expect, test } from "vitest";
import { chosen, searchOf, viewOf } from "@/panels/graph/view";
import { shortId } from "@/panels/graph/words";

describe("the view in an address", () => {
  test("is the usual one when the address says nothing", () => {
    expect(viewOf({})).toMatchObject({
      node: null,
      tab: "modules",
      level: "modules",
      least: "by-name",
      depth: 3,
    });
    expect(searchOf(viewOf({}))).toEqual({});
  });

  test("comes back from the address that it makes", () => {
    const search = {
      node: "src/shop/cart.py::Cart.add",
      tab: "blast",
      level: "symbols",
      by: "kind",
      least: "resolved",
      depth: "5",
      direction: "dependencies",
      draw: "map",
      tag: "fastapi",
      path: "GET /users/*",
    };
    expect(searchOf(viewOf(search))).toEqual(search);
  });

  test.each([
    [{ depth: "7" }, { depth: 3 }],
    [
      { depth: 5, node: 404, tag: true },
      { depth: 5, node: "404", tag: "true" },
    ],
    [{ depth: "0" }, { depth: 3 }],
    [{ depth: "many" }, { depth: 3 }],
    [{ least: "certain" }, { least: "by-name" }],
    [{ tab: "constructor" }, { tab: "modules" }],
    [{ node: ["a", "b"] }, { node: null }],
    [{ tab: "blast" }, { tab: "modules" }],
  ])("takes no harm from %j", (search, expected) => {
    expect(viewOf(search)).toMatchObject(expected);
  });

  test("keeps the tab when another node is chosen, and leaves it when none is", () => {
    const blast = viewOf({ node: "a", tab: "blast", depth: "2" });
    expect(chosen(blast, "b")).toMatchObject({ node: "b", tab: "blast", depth: 2 });
    expect(chosen(blast, null)).toMatchObject({ node: null, tab: "modules" });
    expect(chosen(viewOf({ tab: "endpoints" }), "b").tab).toBe("neighbours");
  });
});

test("an id is told by the part that tells it apart, and hides nothing", () => {
  expect(shortId("src/shop/cart.py::Cart.add")).toBe("Cart.add");
  expect(shortId("src/shop/cart.py")).toBe("src/shop/cart.py");
  expect(shortId("api.py::GET /a::b")).toBe("GET /a::b");
  expect(shortId("a.py::\u202eevil")).toBe("<U+202E>evil");
});
