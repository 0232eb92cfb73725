/** A canvas that stands in for the real one: it takes every stroke, and remembers the texts that were written on it. */
import { vi } from "vitest";

export function serveCanvas(): string[] {
  const written: string[] = [];
  const pen = new Proxy<Record<string, unknown>>(
    { measureText: () => ({ width: 10 }), fillText: (text: string) => written.push(text) },
    { get: (own, name) => own[String(name)] ?? (() => undefined), set: () => true },
  );
  vi.spyOn(HTMLCanvasElement.prototype, "getContext").mockReturnValue(pen as never);
  vi.stubGlobal(
    "Path2D",
    class {
      rect() {}
      roundRect() {}
      moveTo() {}
      lineTo() {}
      arc() {}
      closePath() {}
      addPath() {}
    },
  );
  return written;
}
