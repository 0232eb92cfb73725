/** One session's WebSocket: comes back by itself with its cursor, and matches answers to what was sent. */
import { isDetails, ProblemError } from "./problem";
import type { Command, Frame } from "./types";

/** `lost` tries again by itself; `offline` waits until the browser says that there is a network. */
export type Connection = "connecting" | "open" | "lost" | "offline";

export type SocketOptions = {
  sessionId: string;
  after: number;
  onFrame: (frame: Frame) => void;
  onConnection: (connection: Connection) => void;
  /** The server does not know the cursor: what is loaded here belongs to something else. */
  onStale: () => void;
  random?: () => number;
};

const FIRST_DELAY = 500;
const LONGEST_DELAY = 15_000;
const SILENCE_BEFORE_PING = 20_000;
const BAD_CURSOR = 4400;
const PATIENCE_FOR_PONG = 10_000;

type Waiting = { resolve: () => void; reject: (error: ProblemError) => void };
type Parsed = { seq?: number | null; type?: unknown; id?: unknown; data?: unknown };

export class SessionSocket {
  #socket: WebSocket | null = null;
  #connection: Connection = "connecting";
  #cursor: number;
  #losses = 0;
  #sent = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #unanswered = new Map<string, Waiting>();
  readonly #options: SocketOptions;
  readonly #random: () => number;

  constructor(options: SocketOptions) {
    this.#options = options;
    this.#cursor = options.after;
    this.#random = options.random ?? Math.random;
  }

  start(): void {
    window.addEventListener("online", this.#hurry);
    window.addEventListener("offline", this.#goOffline);
    document.addEventListener("visibilitychange", this.#hurryWhenSeen);
    if (navigator.onLine === false) this.#tell("offline");
    else this.#connect();
  }

  stop(): void {
    window.removeEventListener("online", this.#hurry);
    window.removeEventListener("offline", this.#goOffline);
    document.removeEventListener("visibilitychange", this.#hurryWhenSeen);
    this.#drop();
  }

  /** Resolves when the server has recorded it; rejects with the reason when it refuses or cannot be asked. */
  send(command: Command): Promise<void> {
    const socket = this.#socket;
    if (socket === null || this.#connection !== "open") return Promise.reject(notConnected());
    const id = `c${++this.#sent}`;
    return new Promise((resolve, reject) => {
      this.#unanswered.set(id, { resolve, reject });
      socket.send(JSON.stringify({ ...command, id }));
    });
  }

  readonly #hurry = () => {
    if (this.#socket !== null) return;
    this.#losses = 0;
    this.#connect();
  };

  readonly #hurryWhenSeen = () => {
    if (document.visibilityState === "visible" && this.#connection === "lost") this.#hurry();
  };

  readonly #goOffline = () => {
    this.#drop();
    this.#tell("offline");
  };

  #connect(): void {
    clearTimeout(this.#timer);
    this.#tell("connecting");
    const socket = new WebSocket(addressOf(this.#options.sessionId, this.#cursor));
    this.#socket = socket;
    socket.onopen = () => {
      this.#tell("open");
      this.#listenForSilence();
    };
    socket.onmessage = (message) => this.#receive(message.data);
    socket.onclose = ({ code }) => (code === BAD_CURSOR ? this.#giveUp() : this.#lost());
  }

  #receive(text: unknown): void {
    this.#listenForSilence();
    const frame = parsed(text);
    if (frame === null) return;
    this.#losses = 0;
    if (frame.seq === undefined) this.#settle(frame);
    else if (frame.seq === null) this.#options.onFrame(frame as Frame);
    else this.#take(frame as Frame & { seq: number });
  }

  /** Durable events come without gap or repetition; if one is missing, ask again from the cursor. */
  #take(frame: Frame & { seq: number }): void {
    if (frame.seq <= this.#cursor) return;
    if (frame.seq > this.#cursor + 1) {
      this.#lost();
      return;
    }
    this.#cursor = frame.seq;
    this.#options.onFrame(frame);
  }

  #settle(frame: Parsed): void {
    const waiting = this.#unanswered.get(String(frame.id));
    this.#unanswered.delete(String(frame.id));
    if (frame.type === "ack") waiting?.resolve();
    if (frame.type === "error") waiting?.reject(refusal(frame.data));
  }

  #lost(): void {
    this.#drop();
    const longest = Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** this.#losses++);
    this.#tell(navigator.onLine === false ? "offline" : "lost");
    if (this.#connection === "lost") {
      this.#timer = setTimeout(() => this.#connect(), longest * (0.5 + this.#random() / 2));
    }
  }

  #giveUp(): void {
    this.stop();
    this.#options.onStale();
  }

  #drop(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    if (socket !== null) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close();
    }
    for (const waiting of this.#unanswered.values()) waiting.reject(unconfirmed());
    this.#unanswered.clear();
  }

  /** A connection can die without a word; after a while of silence, ask for one. */
  #listenForSilence(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#socket?.send(JSON.stringify({ type: "ping", id: "ping" }));
      this.#timer = setTimeout(() => this.#lost(), PATIENCE_FOR_PONG);
    }, SILENCE_BEFORE_PING);
  }

  #tell(connection: Connection): void {
    this.#connection = connection;
    this.#options.onConnection(connection);
  }
}

function addressOf(sessionId: string, after: number): string {
  const scheme = window.location.protocol === "https:" ? "wss:" : "ws:";
  return `${scheme}//${window.location.host}/ws/execution/${encodeURIComponent(sessionId)}?after=${after}`;
}

function parsed(text: unknown): Parsed | null {
  try {
    const frame: unknown = JSON.parse(String(text));
    return typeof frame === "object" && frame !== null ? (frame as Parsed) : null;
  } catch {
    return null;
  }
}

function refusal(data: unknown): ProblemError {
  return new ProblemError(isDetails(data) ? data : { detail: "The server refused it and did not say why." });
}

function notConnected(): ProblemError {
  return new ProblemError({
    type: "NotConnected",
    detail: "There is no connection to the server now, so nothing was sent.",
    hint: "Try again when the page is connected; it reconnects by itself.",
  });
}

function unconfirmed(): ProblemError {
  return new ProblemError({
    type: "Unconfirmed",
    detail: "The connection broke before the server confirmed it.",
    hint: "Look at the session's status: it may have been recorded. Sending it again does no harm.",
  });
}
