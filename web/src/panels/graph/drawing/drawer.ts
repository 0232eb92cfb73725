/** The page's end of the worker that draws. */
import { ProblemError } from "@/wire/problem";
import type { Level } from "@/wire/types";
import type { FromWorker, ToWorker } from "./messages";
import type { Scene } from "./scene";

export class Drawer {
  readonly #worker: Worker;

  constructor() {
    if (!("OffscreenCanvas" in window) || !("transferControlToOffscreen" in HTMLCanvasElement.prototype)) {
      throw new ProblemError({
        type: "NoCanvas",
        detail: "This browser cannot draw the map.",
        hint: "The lists have all that it would show; a newer browser can draw it.",
      });
    }
    this.#worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  }

  /** The repository's map, laid out. */
  load(repo: string, level: Level): Promise<Scene> {
    return new Promise((resolve, reject) => {
      this.#worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
        if (data.type === "loaded") resolve(data.scene);
        else reject(new ProblemError(data.problem));
      };
      this.#worker.onerror = () => reject(broken());
      this.tell({ type: "load", repo, level });
    });
  }

  tell(message: ToWorker): void {
    this.#worker.postMessage(message, message.type === "canvas" ? [message.canvas] : []);
  }

  end(): void {
    this.#worker.terminate();
  }
}

function broken(): ProblemError {
  return new ProblemError({
    type: "DrawingBroke",
    detail: "The map could not be drawn.",
    hint: "Try again, or use the lists: they have all that it would show.",
  });
}
