import assert from "node:assert/strict";
import childProcess from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { test } from "node:test";

const { MOST, MOST_OF_LINE, LineFilter, PipeFilter } = createRequire(import.meta.url)("../../../../src/sederunt/browser/node/pipe_filter.cjs");

const SAID = '{"method":"Runtime.consoleAPICalled","params":{"type":"log"},"sessionId":"A"}';
const FRAME = '{"method":"Network.webSocketFrameSent","params":{},"sessionId":"A"}';
const MOVED = '{"method":"Page.frameNavigated","params":{"url":"é"},"sessionId":"A"}';
const CONTEXT = '{"method":"Runtime.executionContextCreated","params":{}}';
const ANSWER = '{"id":7,"result":{}}';
const DAMAGED = '{"method":"Runtime';

/** What comes out when data goes in, cut after each so many bytes. */
function through(data, step = data.length) {
  const out = [];
  const filter = new PipeFilter((piece) => out.push(Buffer.from(piece)));
  for (let at = 0; at < data.length; at += step) filter.take(data.subarray(at, at + step));
  return Buffer.concat(out).toString().split("\0").slice(0, -1);
}

const lines = (...messages) => Buffer.from(messages.map((message) => `${message}\0`).join(""));

test("what nobody reads is left out, wherever the stream is cut", () => {
  const data = lines(SAID, MOVED, SAID, FRAME, ANSWER, CONTEXT, DAMAGED, "", SAID, MOVED, SAID);
  for (let step = 1; step <= data.length; step += 1) {
    assert.deepEqual(through(data, step), [MOVED, ANSWER, CONTEXT, DAMAGED, "", MOVED], `cut after ${step}`);
  }
});

test("a chunk with nothing unwanted is handed on as it came", () => {
  const out = [];
  const data = lines(MOVED, ANSWER);
  new PipeFilter((piece) => out.push(piece)).take(data);
  assert.deepEqual(out, [data]);
});

test("a message waits for its end, and nothing behind it waits longer", () => {
  const out = [];
  const filter = new PipeFilter((piece) => out.push(piece.toString()));
  filter.take(Buffer.from(MOVED));
  assert.deepEqual(out, []);
  filter.take(Buffer.from(`\0${ANSWER}\0{"id"`));
  assert.equal(out.join(""), `${MOVED}\0${ANSWER}\0`);
});

/** A message that is too large, in pieces of 64 KiB. */
function* oversized(start, end) {
  yield Buffer.from(start);
  const piece = Buffer.alloc(65_536, "x");
  for (let sent = 0; sent <= MOST; sent += piece.length) yield piece;
  yield Buffer.from(end);
}

function answered(start, end) {
  const out = [];
  const filter = new PipeFilter((piece) => out.push(Buffer.from(piece)));
  for (const piece of oversized(start, end)) filter.take(piece);
  filter.take(lines(ANSWER));
  return Buffer.concat(out).toString().split("\0").slice(0, -1);
}

test("an answer that is too large is an error for whoever waits, in its session", () => {
  const [said, next] = answered('{"id":42,"result":{"value":"', '"},"sessionId":"1F"}\0');
  const { id, sessionId, error } = JSON.parse(said);
  assert.deepEqual([id, sessionId], [42, "1F"]);
  assert.match(error.message, /more than 33554432 bytes/);
  assert.equal(next, ANSWER);
});

test("the session stands at the very end, also where the stream is cut within", () => {
  for (const cut of [1, 5, 19]) {
    const end = '"},"sessionId":"1F"}\0';
    const out = [];
    const filter = new PipeFilter((piece) => out.push(piece.toString()));
    for (const piece of oversized('{"id":42,"result":{"value":"', end.slice(0, cut))) filter.take(piece);
    filter.take(Buffer.from(end.slice(cut)));
    assert.equal(JSON.parse(out[0].slice(0, -1)).sessionId, "1F");
  }
});

test("a text of the page's is no session", () => {
  const [said] = answered('{"id":42,"result":{"value":"', ',\\"sessionId\\":\\"1F\\"}"}}\0');
  assert.deepEqual(Object.keys(JSON.parse(said)), ["id", "error"]);
});

test("an event that is too large is left out", () => {
  assert.deepEqual(answered('{"method":"Page.frameNavigated","params":{"u":"', '"}}\0'), [ANSWER]);
});

test("a message of exactly the most passes, one byte more does not, in one piece too", () => {
  const start = '{"method":"Page.frameNavigated","u":"';
  const sized = (size) => Buffer.from(`${start}${"x".repeat(size - start.length - 3)}"}\0`);
  assert.equal(through(sized(MOST)).length, 1);
  assert.equal(through(sized(MOST), 65_536).length, 1);
  assert.equal(through(sized(MOST + 1)).length, 0);
  assert.equal(through(sized(MOST + 1), 65_536).length, 0);
});

test("half a gigabyte that nobody reads takes no memory", () => {
  const filter = new PipeFilter(() => assert.fail());
  const before = process.memoryUsage().rss;
  filter.take(Buffer.from(SAID.slice(0, 20)));
  filter.take(Buffer.from(SAID.slice(20)));
  for (let n = 0; n < 540; n += 1) filter.take(Buffer.alloc(1e6, "x"));
  assert.equal(filter._held.length, 0);
  assert.ok(process.memoryUsage().rss - before < 200e6);
});

test("of each line its beginning is told, wherever the stream is cut", () => {
  const most = "y".repeat(MOST_OF_LINE);
  const data = Buffer.from(`a\n\n${most}zz\nb\n${most}\nc`);
  for (const step of [1, 7, 1999, 2000, 2001, data.length]) {
    const out = [];
    const filter = new LineFilter((piece) => out.push(piece.toString()));
    for (let at = 0; at < data.length; at += step) filter.take(data.subarray(at, at + step));
    assert.equal(out.join(""), `a\n\n${most}\nb\n${most}\nc`, `cut after ${step}`);
  }
});

const STDIO = { stdio: ["ignore", "pipe", "pipe", "pipe", "pipe"] };
const WRITES = `require("fs").writeSync(4, process.argv.slice(1, -1).join("\\0") + "\\0")`;

test("a browser's pipe is filtered for whoever listens, and ends as it did", async () => {
  const args = ["-e", WRITES, "--", SAID, MOVED, FRAME, "--remote-debugging-pipe"];
  const child = childProcess.spawn(process.execPath, args, STDIO);
  const heard = [];
  child.stdio[4].on("data", (data) => heard.push(data));
  await once(child, "close");
  assert.equal(Buffer.concat(heard).toString(), `${MOVED}\0`);
});

test("what a browser writes besides is cut line by line", async () => {
  const writes = `console.error("x".repeat(1e6) + "\\nend"); console.log("out")`;
  const args = ["-e", writes, "--", "--remote-debugging-pipe"];
  const child = childProcess.spawn(process.execPath, args, STDIO);
  const lines = [];
  for (const input of [child.stdout, child.stderr]) createInterface({ input }).on("line", (line) => lines.push(line));
  child.stdio[4].resume();
  await once(child, "close");
  assert.deepEqual(lines.map((line) => line.slice(0, MOST_OF_LINE + 1)).sort(), ["end", "out", "x".repeat(MOST_OF_LINE)]);
});

test("other programs' pipes are their own", async () => {
  const child = childProcess.spawn(process.execPath, ["-e", WRITES, "--", SAID, "x"], STDIO);
  const heard = [];
  child.stdio[4].on("data", (data) => heard.push(data));
  await once(child, "close");
  assert.equal(Buffer.concat(heard).toString(), `${SAID}\0`);
});

test("a browser that is talked to in another way does not start", () => {
  const port = () => childProcess.spawn(process.execPath, ["-e", "0", "--", "--remote-debugging-port=0"], STDIO);
  const without = () => childProcess.spawn(process.execPath, ["-e", "0", "--", "--remote-debugging-pipe"], {});
  assert.throws(port, /does not know/);
  assert.throws(without, /does not know/);
});

test("a program that is not there is told of as ever", async () => {
  const [error] = await once(childProcess.spawn("/nowhere/at/all", ["--remote-debugging-pipe"], STDIO), "error");
  assert.equal(error.code, "ENOENT");
});
