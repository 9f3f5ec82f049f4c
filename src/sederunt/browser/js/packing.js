// Packs captured frames into one batch; batches.py describes the layout and reads it. Pure: data in, data out.
"use strict";

const BATCH_BYTES = 16;
const FRAME_BYTES = 28;
const CODECS = {
  "audio/opus": 0,
  "audio/red": 1,
  "audio/pcm": 3,
  "video/vp8": 4,
  "video/vp9": 5,
  "video/h264": 6,
  "video/av1": 8,
};
const OTHER_AUDIO = 2;
const ASIDES = ["audio/cn", "audio/telephone-event"]; // come beside sound in any codec

/**
 * @typedef {object} Frame
 * @property {number} track
 * @property {number} codec
 * @property {boolean} keyframe
 * @property {number} ssrc
 * @property {number} timestamp
 * @property {number} sequence
 * @property {number[]} csrcs
 * @property {number | undefined} level
 * @property {number} atMs Unix milliseconds
 * @property {ArrayBuffer} data
 */

/** @param {string | undefined} mimeType @param {"audio" | "video"} kind @returns {number} */
function codecOf(mimeType, kind) {
  const known = CODECS[/** @type {keyof typeof CODECS} */ ((mimeType || "").toLowerCase())];
  if (known !== undefined) return known;
  return kind === "video" ? 7 : OTHER_AUDIO;
}

/** Whether frames of this type are sound that cannot be kept as it came. @param {string | undefined} mimeType */
const isForeignSound = (mimeType) =>
  mimeType !== undefined && codecOf(mimeType, "audio") === OTHER_AUDIO && !ASIDES.includes(mimeType.toLowerCase());

/** @param {Frame[]} frames @param {number} sequence @returns {ArrayBuffer} */
function pack(frames, sequence) {
  let size = BATCH_BYTES;
  for (const frame of frames) size += FRAME_BYTES + 4 * frame.csrcs.length + frame.data.byteLength;
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  // Whole, so that frames of one moment in two batches are read as of one moment.
  const baseMs = Math.floor(frames.reduce((least, frame) => Math.min(least, frame.atMs), Infinity));
  view.setUint8(0, 0x53);
  view.setUint8(1, 1);
  view.setUint16(2, frames.length, true);
  view.setUint32(4, sequence, true);
  view.setFloat64(8, baseMs, true);
  let at = BATCH_BYTES;
  for (const frame of frames) {
    view.setUint16(at, frame.track, true);
    view.setUint8(at + 2, frame.codec);
    view.setUint8(at + 3, (frame.keyframe ? 1 : 0) | (frame.level === undefined ? 0 : 2));
    view.setUint32(at + 4, frame.ssrc, true);
    view.setUint32(at + 8, frame.timestamp, true);
    view.setUint16(at + 12, frame.sequence, true);
    view.setUint8(at + 14, frame.csrcs.length);
    view.setFloat32(at + 16, frame.level || 0, true);
    view.setUint32(at + 20, Math.round((frame.atMs - baseMs) * 1000), true);
    view.setUint32(at + 24, frame.data.byteLength, true);
    at += FRAME_BYTES;
    for (const csrc of frame.csrcs) {
      view.setUint32(at, csrc, true);
      at += 4;
    }
    bytes.set(new Uint8Array(frame.data), at);
    at += frame.data.byteLength;
  }
  return bytes.buffer;
}
