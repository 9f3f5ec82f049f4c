import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const { pack, codecOf } = load(["packing.js"]);

const frame = (more = {}) => ({
  track: 7, codec: 0, keyframe: false, ssrc: 4_294_967_295, timestamp: 4_294_967_290, sequence: 65_535, csrcs: [],
  level: undefined, atMs: 1_700_000_000_123.25, data: new Uint8Array([1, 2, 3]).buffer, ...more,
});

test("a batch counts its frames and its own number, little-endian", () => {
  const view = new DataView(pack([frame(), frame()], 9));
  assert.deepEqual([view.getUint8(0), view.getUint8(1)], [0x53, 1]);
  assert.equal(view.getUint16(2, true), 2);
  assert.equal(view.getUint32(4, true), 9);
});

test("the batch's time is the least of its frames', whole; frames tell microseconds after it", () => {
  const view = new DataView(pack([frame({ atMs: 1000.5 }), frame({ atMs: 990.25 })], 0));
  assert.equal(view.getFloat64(8, true), 990);
  assert.equal(view.getUint32(16 + 20, true), 10_500);
});

test("contributing sources stand between a frame's head and its bytes", () => {
  const packed = pack([frame({ csrcs: [1, 4_000_000_000] })], 0);
  const view = new DataView(packed);
  assert.equal(view.getUint8(16 + 14), 2);
  assert.deepEqual([view.getUint32(44, true), view.getUint32(48, true)], [1, 4_000_000_000]);
  assert.deepEqual([...new Uint8Array(packed, 52)], [1, 2, 3]);
});

test("a level of 0 is not the absence of a level", () => {
  const flags = (level) => new DataView(pack([frame({ level })], 0)).getUint8(16 + 3);
  assert.deepEqual([flags(0), flags(undefined)], [2, 0]);
});

test("codecs are found by type in any case; unknown ones are told apart by kind", () => {
  const asked = [["audio/OPUS", "audio"], ["video/VP9", "video"], ["video/AV1", "video"], ["audio/g722", "audio"],
    ["video/H265", "video"], [undefined, "video"]];
  assert.deepEqual(asked.map(([type, kind]) => codecOf(type, kind)), [0, 5, 8, 2, 7, 7]);
});
