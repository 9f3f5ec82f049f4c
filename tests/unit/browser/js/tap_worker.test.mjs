import assert from "node:assert/strict";
import { test } from "node:test";
import { load, plain } from "./load.mjs";

/** A worker in which frames of track 3 arrive as they are handed over by a page; what it told of tracks it cannot keep. */
function worker() {
  const told = [], heard = {};
  load(["packing.js", "tap_worker.js"], {
    performance, setTimeout: () => 0, clearTimeout: () => undefined,
    addEventListener: (name, hear) => (heard[name] = hear),
    postMessage: (message) => "foreign" in message && told.push(plain(message)),
  });
  const mode = { kind: "audio", ship: true, forward: "none" };
  return {
    told,
    take: (mimeType, more = {}) => heard.message({ data: {
      order: "frame", track: 3, mode: { ...mode, ...more },
      frame: { data: new ArrayBuffer(1), metadata: { mimeType } },
    } }),
    changeMode: (more) => heard.message({ data: { order: "mode", track: 3, mode: { ...mode, ...more } } }),
  };
}

test("sound in a codec that is not kept is told, once", () => {
  const { told, take } = worker();
  take("audio/PCMU");
  take("audio/PCMU");
  assert.deepEqual(told, [{ foreign: 3 }]);
});

test("it is told anew when the track is to be heard by its frames again", () => {
  const { told, take, changeMode } = worker();
  take("audio/G722");
  changeMode({ ship: false, forward: "all" });
  take("audio/G722", { ship: false });
  assert.equal(told.length, 1);
  changeMode({});
  take("audio/G722");
  assert.equal(told.length, 2);
});

test("neither codecs that are kept nor what accompanies them nor pictures are told", () => {
  const { told, take } = worker();
  for (const type of ["audio/opus", "audio/red", "audio/CN", "audio/telephone-event", undefined]) take(type);
  const pictures = worker();
  pictures.take("video/H265", { kind: "video" });
  assert.deepEqual([told, pictures.told], [[], []]);
});

/**
 * A worker with a line to Python, and one track whose frames come by a transform. `sent` are the first bytes of all
 * frames that left, by track; `given` those that the page got.
 */
function line(options) {
  const sent = [], given = [], heard = {};
  let queue;
  class Socket {
    readyState = 1;
    send() {}
  }
  let nowMs = 5000;
  const realm = load(["packing.js", "tap_worker.js"], {
    performance: { timeOrigin: 0, now: () => nowMs }, setTimeout, clearTimeout, setInterval, clearInterval, WebSocket: Socket,
    addEventListener: (name, hear) => (heard[name] = hear),
    postMessage: (message) => {
      if ("given" in message) given.push(message.frame);
      if ("answer" in message) answered();
    },
  });
  let answered;
  const pack = realm.pack;
  realm.pack = (frames, sequence) => {
    for (const { track, data } of frames) sent.push([track, new Uint8Array(data)[0]]);
    return pack(frames, sequence);
  };
  const order = (data) => heard.message({ data });
  const address = {};
  order({ order: "start", line: address, batchMs: 5 });
  address.onmessage({ data: { address: "" } });
  const readable = new ReadableStream({ start: (controller) => (queue = controller) });
  heard.rtctransform({ transformer: {
    readable, writable: new WritableStream(),
    options: { track: 1, kind: "audio", ship: true, forward: "none", ...options },
  } });
  // The byte of what a page made of a frame is 100 more.
  const frame = (byte) => ({
    data: new Uint8Array([byte]).buffer,
    getMetadata: () => ({ mimeType: "audio/opus", sequenceNumber: byte % 100 }),
  });
  const samples = { onmessage: undefined };
  order({ order: "samples", port: samples });
  return {
    given, order, frame,
    pass: (ms) => (nowMs += ms),
    /** Frames arrive, each of one byte; resolves when all are read. */
    async arrive(...bytes) {
      for (const byte of bytes) queue.enqueue(frame(byte));
      await new Promise((over) => setTimeout(over, 0));
    },
    /** A block of samples of a track, so many seconds long. */
    play: (track, seconds) => samples.onmessage({ data: { rate: 16000, blocks: [
      { track, sequence: 0, start: 0, data: new Int16Array(16000 * seconds).fill(track).buffer },
    ] } }),
    /** What has left, once all of it has. */
    async sent() {
      await new Promise((over) => {
        answered = over;
        order({ order: "flush", number: 1 });
      });
      return sent;
    },
  };
}

test("frames that a page takes are held until it is known to keep them, and then sent from the first", async () => {
  const page = line({ page: "undecided" });
  await page.arrive(1, 2, 3);
  assert.deepEqual(page.given.map(({ data }) => new Uint8Array(data)[0]), [1, 2, 3]);
  page.order({ order: "keep", track: 1 });
  await page.arrive(4);
  assert.deepEqual(await page.sent(), [[1, 1], [1, 2], [1, 3], [1, 4]]);
});

test("a page that keeps its frames is given some of them on", async () => {
  const page = line({ page: "undecided" });
  page.order({ order: "keep", track: 1 });
  for (let byte = 0; byte < 10; byte += 1) await page.arrive(byte);
  page.pass(1000);
  await page.arrive(10, 11);
  assert.equal((await page.sent()).length, 12);
  assert.deepEqual(page.given.map(({ data }) => new Uint8Array(data)[0]), [0, 10]);
});

test("of a page that hands its frames back only those are sent", async () => {
  const page = line({ page: "undecided" });
  await page.arrive(1, 2);
  page.order({ order: "back", track: 1, frame: page.frame(101) });
  page.order({ order: "back", track: 1, frame: page.frame(102) });
  await page.arrive(3);
  page.order({ order: "keep", track: 1 }); // too late: it is decided
  page.order({ order: "back", track: 1, frame: page.frame(103) });
  assert.deepEqual(await page.sent(), [[1, 101], [1, 102], [1, 103]]);
});

test("a page that begins to hand its frames back is heard by those from then on", async () => {
  const page = line({ page: "undecided" });
  page.order({ order: "keep", track: 1 });
  await page.arrive(1);
  page.order({ order: "back", track: 1, frame: page.frame(101) }); // which was sent before
  page.order({ order: "back", track: 1, frame: page.frame(102) });
  await page.arrive(3);
  assert.equal(page.given.length, 2);
  assert.deepEqual(await page.sent(), [[1, 1], [1, 102]]);
});

const GRAPH = { order: "mode", track: 7, mode: { kind: "graph", ship: true, hold: true } };

test("what a graph plays is sent whole where receivers bring no sound", async () => {
  const page = line();
  page.order(GRAPH);
  page.play(7, 0.6);
  page.play(7, 0.6);
  page.play(7, 0.1);
  assert.deepEqual(await page.sent(), [[7, 7], [7, 7], [7, 7]]);
});

test("what a graph plays beside the sound of a receiver is not sent", async () => {
  const page = line();
  page.order(GRAPH);
  page.play(7, 0.6);
  page.play(1, 0.1);
  page.play(7, 2);
  assert.deepEqual(await page.sent(), [[1, 1]]);
});

test("a graph is heard again once its page was found deaf", async () => {
  const page = line();
  page.play(1, 0.1);
  page.order(GRAPH);
  page.play(7, 2);
  page.order({ order: "hearGraphs" });
  page.play(7, 2);
  assert.deepEqual(await page.sent(), [[1, 1], [7, 7]]);
});
