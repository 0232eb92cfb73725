import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, test } from "vitest";
import { Output } from "@/parts/Output";

afterEach(() => {
  cleanup();
  window.localStorage.clear();
});

const lines = (count: number) => Array.from({ length: count }, (_, place) => `line ${place + 1}.`);

describe("what a program printed", () => {
  test("is shown in its colours, without the orders for them", () => {
    render(<Output label="Output" lines={["\u001b[32mok\u001b[0m and \u202eso on"]} />);
    expect(screen.getByText("ok").className).toBe("text-ok");
    screen.getByText("and <U+202E>so on");
  });

  test("is shown from its last lines, and whole on request", async () => {
    render(<Output label="Output" lines={lines(3_000)} />);
    screen.getByText("3,000 lines");
    screen.getByText("line 3000.");
    expect(screen.queryByText("line 2600.")).toBeNull();
    await userEvent.click(screen.getByRole("button", { name: "Show the 2,600 lines before these" }));
    screen.getByText("line 1.");
  });

  test("says what is not kept", () => {
    render(<Output label="Output" lines={lines(2)} before={7} isLive />);
    screen.getByText("9 lines seen");
    screen.getByText("7 lines before these are not kept on this page.");
  });

  test("has very long lines shown on request", async () => {
    render(<Output label="Output" lines={["x".repeat(5_000)]} />);
    await userEvent.click(screen.getByRole("button", { name: "3,000 more characters" }));
    screen.getByText("x".repeat(5_000));
  });

  test("says how often a line was written over", () => {
    render(<Output label="Output" lines={["1 %\r2 %\r3 %"]} />);
    screen.getByText("3 %");
    screen.getByText("(2 earlier)");
  });

  test("is wrapped or not, as one chose before", async () => {
    render(<Output label="Output" lines={["a"]} />);
    const wrap = screen.getByRole("button", { name: "Wrap" });
    expect(wrap.getAttribute("aria-pressed")).toBe("true");
    await userEvent.click(wrap);
    cleanup();
    render(<Output label="Output" lines={["a"]} />);
    expect(screen.getByRole("button", { name: "Wrap" }).getAttribute("aria-pressed")).toBe("false");
  });
});
