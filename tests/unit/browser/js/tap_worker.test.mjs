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
