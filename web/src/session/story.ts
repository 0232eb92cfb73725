/** The loaded part of a log as rows to show: a step is one row from its beginning to its end. */
import type { Envelope, EnvelopeOf } from "@/wire/types";

type StepEvent = EnvelopeOf<"step">;

/** One row: the event it stands at and, for a step, the last thing known of that try. */
export type Row = { head: Envelope; last: Envelope; isLeftBehind: boolean };

/** Grows at both ends and is changed in place, so that a hundred thousand events cost nothing to add to. */
export class Story {
  #events: Envelope[] = [];
  #heads: number[] = [];
  #lasts = new Map<number, number>();
  #headOf = new Map<number, number>();
  #open = new Map<string, number>();
  #leftBehind: { after: number; before: number }[] = [];
  #asked = new Map<string, string>();

  /** With `showsAll`, every event is a row of its own; else mechanics are left out. */
  constructor(readonly showsAll = false) {}

  get first(): number {
    return this.#events[0]?.seq ?? 0;
  }

  get last(): number {
    return this.#events.at(-1)?.seq ?? 0;
  }

  get length(): number {
    return this.#heads.length;
  }

  append(events: readonly Envelope[]): void {
    for (const event of events) {
      if (this.#events.length > 0 && event.seq <= this.last) continue;
      this.#events.push(event);
      this.#place(event);
    }
  }

  /** Put older events before the ones that are there; says how many rows that adds at the top. */
  prepend(events: readonly Envelope[]): number {
    const before = this.length;
    const all = [...events.filter((event) => event.seq < this.first), ...this.#events];
    this.#events = [];
    this.#heads = [];
    this.#lasts = new Map();
    this.#headOf = new Map();
    this.#open = new Map();
    this.#leftBehind = [];
    this.#asked = new Map();
    this.append(all);
    return this.length - before;
  }

  /** The same events, told in full or in short. */
  retold(all: boolean): Story {
    const story = new Story(all);
    story.append(this.#events);
    return story;
  }

  row(index: number): Row | undefined {
    const head = this.event(this.#heads[index] ?? 0);
    if (head === undefined) return undefined;
    const last = this.event(this.#lasts.get(head.seq) ?? head.seq) ?? head;
    return { head, last, isLeftBehind: this.#isLeftBehind(head.seq) };
  }

  event(seq: number): Envelope | undefined {
    return this.#events[seq - this.first];
  }

  /** What an event is about: a step, a call of its script; an answer is about what was asked. */
  keyOf(event: Envelope): string | null {
    if (event.type === "user_response") return this.#asked.get(event.data.request_id) ?? null;
    return "key" in event.data ? (event.data.key ?? null) : null;
  }

  /** The row in which an event is told, or the one next to it. */
  indexOf(seq: number): number {
    const wanted = this.#headOf.get(seq) ?? seq;
    let [low, high] = [0, this.#heads.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#heads[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return Math.min(low, Math.max(0, this.#heads.length - 1));
  }

  /** The events after a cursor, as far as they are loaded. */
  since(seq: number): readonly Envelope[] {
    return this.#events.slice(Math.max(0, seq + 1 - this.first));
  }

  #place(event: Envelope): void {
    if (event.type === "session" && event.data.rewound_to != null) {
      this.#leftBehind.push({ after: event.data.rewound_to, before: event.seq });
      this.#open.clear();
    }
    if (event.type === "request_input" || event.type === "approval_request")
      this.#asked.set(event.data.request_id, event.data.key);
    if (!this.showsAll && event.type === "step" && this.#joins(event)) return;
    if (this.showsAll || !isMechanics(event)) this.#heads.push(event.seq);
  }

  /** Whether the event goes on with a step whose row is there already. */
  #joins(event: StepEvent): boolean {
    const { key, status } = event.data;
    const head = this.#open.get(key);
    if (head !== undefined) {
      this.#lasts.set(head, event.seq);
      this.#headOf.set(event.seq, head);
    }
    if (status !== "running") this.#open.delete(key);
    else if (head === undefined) this.#open.set(key, event.seq);
    return head !== undefined;
  }

  #isLeftBehind(seq: number): boolean {
    return this.#leftBehind.some(({ after, before }) => seq > after && seq < before);
  }
}

/** What says nothing to a person who watches: turns taken, and recorded values such as the time or a script's notes. */
function isMechanics(event: Envelope): boolean {
  if (event.type === "session") {
    const { status, begun, rewound_to, forked_from } = event.data;
    const isTurn = status === "queued" || status === "running" || status === "waiting";
    return isTurn && !begun && !rewound_to && !forked_from;
  }
  if (event.type !== "step" || event.data.status === "failed") return false;
  return (event.data.seconds == null && VALUES.has(event.data.name)) || OF_SCRIPTS.test(event.data.key);
}

const VALUES = new Set(["now", "random"]);
/** What a script gave, the order in which its calls came back, and what it asks for before it waits. */
const OF_SCRIPTS = /\/script(\/settled(#\d+)?|\/\d+\/call)?$/;
