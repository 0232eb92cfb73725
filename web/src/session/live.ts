/** A session as a page follows it: loaded newest first, kept up to date by its socket, changed by own clicks at once. */
import * as client from "@/wire/client";
import { asProblem, type ProblemError } from "@/wire/problem";
import { type Connection, SessionSocket } from "@/wire/socket";
import type { Command, Envelope, Frame, Status } from "@/wire/types";
import { advanced, fromView, isRewind, type SessionState } from "./fold";
import { NOTHING_PASSING, type Passing, withFrame, withoutTold } from "./passing";
import { keepSeen, lastSeen, type Seen } from "./seen";
import { Story } from "./story";

export type Working = {
  face: "working";
  state: SessionState;
  story: Story;
  /** How many rows were put before those that were there first. */
  prepended: number;
  isLoadingOlder: boolean;
  passing: Passing;
  connection: Connection;
  /** Own clicks that the log does not have yet. */
  settled: ReadonlySet<string>;
  intended: Status | null;
  /** Where this person had got to at an earlier visit. */
  seen: Seen | null;
};
export type Live = { face: "loading" } | { face: "failed"; problem: ProblemError } | Working;

const PAGE = 500;
const LARGE_PAGE = 5_000;
const SHOWN_EVERY = 33;
const TRIES_AGAIN_AFTER = 3_000;
const INTENDED: Partial<Record<Command["type"], Status>> = {
  pause: "paused",
  resume: "queued",
  interrupt: "interrupted",
  cancel: "cancelled",
};

export class LiveSession {
  #live: Live = { face: "loading" };
  #socket: SessionSocket | null = null;
  #arrived: Frame[] = [];
  #showing: ReturnType<typeof setTimeout> | undefined;
  #retrying: ReturnType<typeof setTimeout> | undefined;
  #visit = 0;
  readonly #listeners = new Set<() => void>();
  readonly #id: string;

  constructor(id: string) {
    this.#id = id;
  }

  readonly get = (): Live => this.#live;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  start(): void {
    document.addEventListener("visibilitychange", this.#noteSeen);
    void this.#load(++this.#visit);
  }

  stop(): void {
    document.removeEventListener("visibilitychange", this.#noteSeen);
    this.forgetSeen();
    this.#visit++;
    this.#disconnect();
  }

  /** All of it has been read now. */
  readonly forgetSeen = (): void => {
    const live = this.#live;
    if (live.face !== "working") return;
    keepSeen(live.state.id, { seq: live.state.seq, at: Date.now() });
    this.#change(() => ({ seen: null }));
  };

  /** Forget what is loaded and load it anew. */
  readonly retry = (): void => {
    this.#disconnect();
    this.#show({ face: "loading" });
    void this.#load(++this.#visit);
  };

  /** Tell the session something: shown at once, taken back if the server refuses. */
  async tell(command: Command): Promise<void> {
    const request = "request_id" in command.data ? command.data.request_id : null;
    this.#change((live) => ({
      settled: request === null ? live.settled : new Set([...live.settled, request]),
      intended: INTENDED[command.type] ?? live.intended,
    }));
    try {
      if (this.#socket === null) throw new Error("the session is not loaded");
      await this.#socket.send(command);
    } catch (error) {
      this.#change((live) => ({
        settled: new Set([...live.settled].filter((id) => id !== request)),
        intended: null,
      }));
      throw asProblem(error);
    }
  }

  /** Load the page of events before the ones that are there. */
  readonly older = async (): Promise<void> => {
    const live = this.#live;
    if (live.face !== "working" || live.isLoadingOlder || live.story.first <= 1) return;
    this.#change(() => ({ isLoadingOlder: true }));
    try {
      const upTo = live.story.first - 1;
      const events = await client.events(live.state.id, Math.max(0, upTo - PAGE), upTo);
      this.#change((now) => ({ prepended: now.prepended + now.story.prepend(events) }));
    } finally {
      this.#change(() => ({ isLoadingOlder: false }));
    }
  };

  /** Load as far back as an event, in large pages. */
  readonly reach = async (seq: number): Promise<void> => {
    for (;;) {
      const live = this.#live;
      if (live.face !== "working" || live.story.first <= Math.max(1, seq)) return;
      const upTo = live.story.first - 1;
      const events = await client.events(live.state.id, Math.max(0, seq - PAGE, upTo - LARGE_PAGE), upTo);
      this.#change((now) => ({ prepended: now.prepended + now.story.prepend(events) }));
    }
  };

  /** Tell every event, or only what says something. */
  readonly retell = (all: boolean): void => {
    this.#change((live) => ({ story: live.story.retold(all), prepended: 0 }));
  };

  async #load(visit: number): Promise<void> {
    try {
      const view = await client.session(this.#id);
      const events = await client.events(view.session_id, Math.max(0, view.seq - PAGE), view.seq);
      if (visit === this.#visit) this.#open(fromView(view), events);
    } catch (error) {
      if (visit === this.#visit) this.#fail(asProblem(error), visit);
    }
  }

  #open(state: SessionState, events: readonly Envelope[]): void {
    const story = new Story();
    story.append(events);
    this.#show({
      face: "working",
      state,
      story,
      prepended: 0,
      isLoadingOlder: false,
      passing: NOTHING_PASSING,
      connection: "connecting",
      settled: new Set(),
      intended: null,
      seen: lastSeen(state.id),
    });
    this.#socket = new SessionSocket({
      sessionId: state.id,
      after: state.seq,
      onFrame: (frame) => this.#arrive(frame),
      onConnection: (connection) => this.#connected(connection),
      onStale: this.retry,
    });
    this.#socket.start();
  }

  /** What passed by on a lost connection is told anew on the next, or is over. */
  #connected(connection: Connection): void {
    this.#change(({ passing }) => ({
      connection,
      intended: null,
      passing: connection === "open" ? NOTHING_PASSING : passing,
    }));
  }

  #fail(problem: ProblemError, visit: number): void {
    this.#disconnect();
    this.#show({ face: "failed", problem });
    if (!problem.isUnreachable) return;
    this.#retrying = setTimeout(() => void this.#load(visit), TRIES_AGAIN_AFTER);
  }

  #disconnect(): void {
    clearTimeout(this.#retrying);
    clearTimeout(this.#showing);
    this.#showing = undefined;
    this.#arrived = [];
    this.#socket?.stop();
    this.#socket = null;
  }

  #arrive(frame: Frame): void {
    this.#arrived.push(frame);
    this.#showing ??= setTimeout(() => void this.#takeArrived(this.#visit), SHOWN_EVERY);
  }

  /** Frames come in bursts; they are taken together, so that a burst is one change of the page. */
  async #takeArrived(visit: number): Promise<void> {
    const frames = this.#arrived;
    this.#arrived = [];
    try {
      const base = this.#isRewoundBy(frames) ? fromView(await client.session(this.#id)) : null;
      if (visit !== this.#visit) return;
      this.#change((live) => taken(live, frames, base));
      this.#showing = undefined;
      if (this.#arrived.length > 0)
        this.#showing = setTimeout(() => void this.#takeArrived(visit), SHOWN_EVERY);
    } catch (error) {
      if (visit === this.#visit) this.#fail(asProblem(error), visit);
    }
  }

  #isRewoundBy(frames: readonly Frame[]): boolean {
    const seq = this.#live.face === "working" ? this.#live.state.seq : 0;
    return frames.some((frame) => frame.seq !== null && frame.seq > seq && isRewind(frame));
  }

  readonly #noteSeen = (): void => {
    const live = this.#live;
    if (live.face !== "working") return;
    if (document.visibilityState === "hidden")
      keepSeen(live.state.id, { seq: live.state.seq, at: Date.now() });
    else this.#change(() => ({ seen: lastSeen(live.state.id) }));
  };

  #change(part: (live: Working) => Partial<Working>): void {
    if (this.#live.face === "working") this.#show({ ...this.#live, ...part(this.#live) });
  }

  #show(live: Live): void {
    this.#live = live;
    for (const listener of this.#listeners) listener();
  }
}

function taken(live: Working, frames: readonly Frame[], base: SessionState | null): Partial<Working> {
  const events = frames.filter((frame): frame is Envelope => frame.seq !== null);
  const state = base ?? live.state;
  live.story.append(events);
  let passing = live.passing;
  for (const frame of frames) {
    passing = frame.seq === null ? withFrame(passing, frame) : withoutTold(passing, frame);
  }
  const turned = events.some((event) => event.type === "session");
  return {
    state: advanced(
      state,
      events.filter((event) => event.seq > state.seq),
    ),
    passing,
    intended: turned ? null : live.intended,
  };
}
