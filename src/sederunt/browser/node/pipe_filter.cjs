// Runs in the browsers' driver before anything of its own (node --require): lets nothing through from a browser's pipe
// that ends the driver, or costs it time that nobody wanted. One driver has the pages of all bots of a host.
//
// The driver joins each message and parses it, whatever its length: above 512 MiB of text Node throws, and the driver
// ends. A page writes such messages with one line of script, so they are judged here, by their first bytes, and what is
// not wanted is never joined. Messages are JSON with a NUL behind each; Chromium writes `method` or `id` first.
"use strict";

const childProcess = require("node:child_process");

const MOST = 32 * 2 ** 20; // bytes of a message
const MOST_OF_LINE = 2000; // bytes; the driver keeps up to 300 lines that a browser wrote
const NUL = 0;
const NEWLINE = 10;
// What pages write as much as they like of, and neither we nor the driver's own logic read. The driver keeps a page's
// last 200 console messages, log entries and errors whole, and hands each frame of a WebSocket on to our event loop. Of
// all this only `page.set_content` has a use, which waits for a console message: not with this driver.
const UNWANTED = [
  "Runtime.consoleAPICalled\"",
  "Runtime.exceptionThrown\"",
  "Log.entryAdded\"",
  "Network.dataReceived\"",
  "Network.eventSourceMessageReceived\"",
  "Network.webSocket", // all of them: who is told of no socket looks for none later
  "Network.webTransport",
  "Network.directTCPSocket",
  "Network.directUDPSocket",
].map((method) => Buffer.from(`{"method":"${method}`));
const HEAD = Math.max(...UNWANTED.map((start) => start.length));
const FIRST = '{"method":"'.length, SECOND = '{"method":"Network.'.length; // letters of a method
const TAIL = 128; // bytes; holds the name of a session

/** Passes a stream's messages on, but those that are unwanted or too large. */
class PipeFilter {
  /** @param {(data: Buffer) => void} pass */
  constructor(pass) {
    this._pass = pass;
    this._begin();
  }

  /** Take what came next, however it was cut. @param {Buffer} chunk */
  take(chunk) {
    let at = 0;
    if (this._size) {
      const end = chunk.indexOf(NUL);
      at = end < 0 ? chunk.length : end + 1;
      this._add(chunk.subarray(0, at), end >= 0);
    }
    at = this._passWhole(chunk, at);
    if (at < chunk.length) this._add(chunk.subarray(at), false);
  }

  /** Pass on the messages that lie whole in a chunk, in as few pieces as can be; returns where the rest begins. */
  _passWhole(chunk, start) {
    let from = start;
    for (let end = chunk.indexOf(NUL, start); end >= 0; end = chunk.indexOf(NUL, start)) {
      const next = end + 1;
      if (isUnwanted(chunk, start) || next - start > MOST) {
        if (from < start) this._pass(chunk.subarray(from, start));
        this._add(chunk.subarray(start, next), true);
        from = next;
      }
      start = next;
    }
    if (from < start) this._pass(chunk.subarray(from, start));
    return start;
  }

  _begin() {
    this._size = 0;
    this._held = [];
    this._isJudged = this._isDropped = false;
    this._head = this._tail = undefined; // of a message that is too large
  }

  /** Add a piece to the message that is open. */
  _add(piece, isLast) {
    this._size += piece.length;
    if (!this._isDropped) this._keep(piece, isLast);
    else if (this._tail) this._tail = lastOf([this._tail, piece]);
    if (isLast) this._end();
  }

  _keep(piece, isLast) {
    this._held.push(piece);
    if (!this._isJudged && (this._size >= HEAD || isLast)) {
      this._isJudged = true;
      this._isDropped = isUnwanted(Buffer.concat(this._held, Math.min(this._size, HEAD)), 0);
    }
    if (!this._isDropped && this._size > MOST) {
      this._isDropped = true;
      this._head = Buffer.concat(this._held, HEAD);
      this._tail = lastOf(this._held.slice(-2));
    }
    if (this._isDropped) this._held = [];
  }

  _end() {
    const { _held: held, _head: head, _tail: tail } = this;
    this._begin();
    for (const piece of held) this._pass(piece);
    const answer = head && refusal(head.toString("latin1"), tail.toString("latin1"));
    if (answer) this._pass(Buffer.from(`${JSON.stringify(answer)}\0`));
  }
}

/** Two letters tell most apart: comparing all costs a microsecond. @param {Buffer} data @param {number} start */
function isUnwanted(data, start) {
  const [first, second] = [data[start + FIRST], data[start + SECOND]];
  for (const method of UNWANTED) {
    if (first !== method[FIRST] || second !== method[SECOND]) continue;
    if (!data.compare(method, 0, method.length, start, Math.min(start + method.length, data.length))) return true;
  }
  return false;
}

/** Return a copy of the last bytes: a slice would keep the whole piece. @param {Buffer[]} pieces */
function lastOf(pieces) {
  return Buffer.concat(pieces.map((piece) => piece.subarray(-TAIL))).subarray(-TAIL);
}

/**
 * Return what is said in the place of an answer that is too large, for somebody waits for it; nothing for an event. No
 * text of a page stands where the session does: there it would be followed by the bracket of what holds it.
 */
function refusal(head, tail) {
  const id = /^\{"id":(\d+),/.exec(head);
  const session = /,"sessionId":"([^"]*)"\}\0$/.exec(tail);
  // By Chromium's own words for what cannot be told: the driver takes every other error for a page that moves on, and
  // the question would be asked again.
  const message = `Object reference chain is too long: more than ${MOST} bytes were refused.`;
  const error = { code: -32000, message };
  return id && { id: Number(id[1]), error, ...(session && { sessionId: session[1] }) };
}

/** Passes a stream's lines on, the beginning of each: browsers write what pages say to their consoles there as well. */
class LineFilter {
  /** @param {(data: Buffer) => void} pass */
  constructor(pass) {
    this._pass = pass;
    this._left = MOST_OF_LINE;
  }

  /** Take what came next, however it was cut. @param {Buffer} chunk */
  take(chunk) {
    for (let at = 0; at < chunk.length; ) {
      const end = chunk.indexOf(NEWLINE, at);
      const next = end < 0 ? chunk.length : end;
      const told = Math.min(next - at, this._left);
      this._left = end < 0 ? this._left - told : MOST_OF_LINE;
      if (told) this._pass(chunk.subarray(at, at + told));
      if (end >= 0) this._pass(chunk.subarray(end, end + 1));
      at = next + 1;
    }
  }
}

/**
 * Have a stream's listeners hear filtered data.
 * @param {import("node:stream").Readable} pipe
 * @param {typeof PipeFilter | typeof LineFilter} kind
 */
function guard(pipe, kind) {
  const emit = pipe.emit;
  const filter = new kind((data) => emit.call(pipe, "data", data));
  pipe.emit = function (name, ...values) {
    if (name !== "data") return emit.call(this, name, ...values);
    filter.take(values[0]);
    return true;
  };
}

const spawn = childProcess.spawn;

/** Start a program, like `spawn`; a browser whose pipe is not found is none that pages may be opened in. */
childProcess.spawn = function (program, args, options) {
  const child = spawn.call(this, program, args, options);
  const isBrowser = Array.isArray(args) && args.some((arg) => String(arg).startsWith("--remote-debugging-"));
  if (!isBrowser || child.pid === undefined) return child;
  const pipe = args.includes("--remote-debugging-pipe") && child.stdio[4];
  if (!pipe) {
    child.kill("SIGKILL");
    throw new Error("pipe_filter.cjs does not know how this driver talks to its browsers.");
  }
  guard(pipe, PipeFilter);
  for (const written of [child.stdout, child.stderr]) if (written) guard(written, LineFilter);
  return child;
};

module.exports = { MOST, MOST_OF_LINE, LineFilter, PipeFilter };
