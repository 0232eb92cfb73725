// What a script finds around itself. The host holds the functions given back at the end and nothing else goes
// in or out: text in, text out. Whatever a script does to what it can reach here, it does to itself alone.
((stopCalls, stopInFlight, stopArgument, stopOutput, stopResult, stopMemory) => {
  "use strict";
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { create, defineProperty, freeze, getPrototypeOf } = Object;
  const [Promise_, Error_, InternalError_, String_] = [Promise, Error, InternalError, String];
  const then = Promise.prototype.then;
  const { get, set } = WeakMap.prototype;
  const [indexOf, slice] = [String.prototype.indexOf, String.prototype.slice];
  const AsyncFunction = (async () => {}).constructor;
  const LINES_BEFORE = 2; // what AsyncFunction puts in front of a body
  const LONGEST_MESSAGE = 2000;

  const waiting = create(null);
  const linesOfErrors = new WeakMap(); // a call fails when nothing of the script runs, so its stack names no line
  let [limits, calls, inFlight, printed] = [null, 0, 0, 0];
  let [asked, lines, end, lastLine] = ["", "", "", null];

  class ToolError extends Error {
    constructor(problem) {
      super(problem.message);
      for (const name of ["tool", "kind", "category"]) {
        defineProperty(this, name, { value: problem[name], enumerable: true });
      }
    }
  }
  defineProperty(ToolError.prototype, "name", { value: "ToolError" });

  // The line of the script that a stack speaks of first; the script's frames are the only ones called <input>.
  const lineIn = (stack) => {
    if (typeof stack !== "string") return null;
    const at = apply(indexOf, stack, ["<input>:"]);
    const line = at < 0 ? NaN : parseInt(apply(slice, stack, [at + 8, at + 16]), 10) - LINES_BEFORE;
    return line > 0 ? line : null;
  };

  const call = (name, params) => {
    const text = stringify(params === undefined ? {} : params);
    if (typeof text !== "string") throw new TypeError(`${name} takes plain data`);
    if (text.length > limits.argument) stopArgument();
    if (++calls > limits.calls) stopCalls();
    if (++inFlight > limits.in_flight) stopInFlight();
    const id = calls;
    const line = (lastLine = lineIn(new Error_().stack));
    asked += `${asked && ","}{"id":${id},"name":${stringify(name)},"params":${text},"line":${line}}`;
    return new Promise_((resolve, reject) => {
      waiting[id] = { resolve, reject, line };
    });
  };

  const settle = (text) => {
    const { id, value, problem } = parse(text);
    const { resolve, reject, line } = waiting[id];
    delete waiting[id];
    inFlight--;
    if (!problem) return resolve(value);
    const error = new ToolError(problem);
    apply(set, linesOfErrors, [error, line]);
    reject(error);
  };

  const shown = (value) => {
    if (typeof value === "string") return value;
    if (value instanceof Error_) return `${value.name}: ${value.message}`;
    if (typeof value === "function" || typeof value === "symbol") return String_(value);
    const text = typeof value === "bigint" ? undefined : stringify(value);
    return text === undefined ? String_(value) : text;
  };

  const print = (...values) => {
    let text = "";
    for (let i = 0; i < values.length; i++) text += (i ? " " : "") + shown(values[i]);
    printed += text.length + 1;
    if (printed > limits.output) stopOutput();
    lines += `${lines && ","}${stringify(text)}`;
  };

  const succeeded = (value) => {
    const text = stringify(value);
    if (text !== undefined && text.length > limits.result) stopResult();
    end = `{"value":${text === undefined ? "null" : text}}`;
  };

  const failed = (error) => {
    try {
      tell(error);
    } catch {
      end = `{"error":{"name":"Error","message":"it threw something that cannot be shown","line":null}}`;
    }
  };

  const tell = (error) => {
    const is = error instanceof Error_;
    const name = is ? apply(slice, String_(error.name), [0, 100]) : "Error";
    const message = apply(slice, is ? String_(error.message) : shown(error), [0, LONGEST_MESSAGE]);
    const line = is ? (lineIn(error.stack) ?? apply(get, linesOfErrors, [error]) ?? null) : null;
    if (error instanceof InternalError_ && error.message === "out of memory") {
      lastLine = line;
      stopMemory();
    }
    end = `{"error":{"name":${stringify(name)},"message":${stringify(message)},"line":${line}}}`;
  };

  // Neither part may fail silently: a value that cannot be given back is an error of the script's.
  const ended = (promise) =>
    apply(then, apply(then, promise, [succeeded]), [undefined, failed]);

  const bind = (tree, path, name) => {
    const words = path.split(".");
    const last = words.pop();
    for (const word of words) tree = tree[word] ??= create(null);
    const under = tree[last];
    tree[last] = (params) => call(name, params);
    if (under) for (const key in under) tree[last][key] = under[key];
  };

  const frozen = (tree) => {
    for (const key in tree) frozen(tree[key]);
    return freeze(tree);
  };

  // A generator of our own (sfc32), so that the numbers depend on the seed alone.
  const random = (seed) => {
    let [a, b, c, d] = [Math.floor(seed * 0x100000000) | 0, (seed * 0x20000000000000) | 0, 0x9e3779b9 | 0, 1];
    const next = () => {
      const t = (((a + b) | 0) + d) | 0;
      d = (d + 1) | 0;
      a = b ^ (b >>> 9);
      b = (c + (c << 3)) | 0;
      c = ((c << 21) | (c >>> 11)) + t | 0;
      return t >>> 0;
    };
    for (let i = 0; i < 15; i++) next();
    return () => ((next() >>> 5) * 0x4000000 + (next() >>> 6)) / 0x20000000000000;
  };

  const global = (name, value) => defineProperty(globalThis, name, { value, configurable: true, writable: true });

  for (const name of ["eval", "Function", "SharedArrayBuffer", "WeakRef", "FinalizationRegistry", "performance"]) {
    delete globalThis[name];
  }
  const noCode = function Function() {
    throw new TypeError("code cannot be made from text here");
  };
  for (const made of [() => {}, async () => {}, function* () {}, async function* () {}]) {
    defineProperty(getPrototypeOf(made), "constructor", { value: noCode });
  }
  global("ToolError", ToolError);
  global("console", freeze({ log: print, info: print, debug: print, warn: print, error: print }));
  global("human", freeze({ ask: (question, options) => call("human.ask", { ...options, question }) }));
  global("clock", freeze({ now: () => call("clock.now"), sleep: (seconds) => call("clock.sleep", { seconds }) }));

  const start = (text) => {
    const given = parse(text);
    limits = given.limits;
    const tree = create(null);
    for (const name of given.tools) bind(tree, name, `tools.${name}`);
    global("tools", frozen(tree));
    Math.random = random(given.seed);
    let script;
    try {
      script = new AsyncFunction("input", `"use strict";${given.source}`);
    } catch (error) {
      return failed(error);
    }
    ended(script(given.input));
  };

  const report = () => {
    const text = `{"calls":[${asked}],"output":[${lines}],"end":${end || "null"}}`;
    asked = lines = end = "";
    return text;
  };

  // Where the script is, or where an error of its came from, or at least where it was when it was last seen.
  const where = (error) => String_(lineIn(error === undefined ? new Error_().stack : error.stack) ?? lastLine);

  return [start, settle, report, where];
})
