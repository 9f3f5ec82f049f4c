import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const SDP = [
  "v=0",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:0", "a=ssrc:11 cname:a", "a=ssrc:11 msid:a",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:1", "a=ssrc:22 cname:b", "",
].join("\r\n");

/** A connection that notes which descriptions are set, and in which order. */
function connection(type, sdp = SDP, signalingState = "stable") {
  const steps = [];
  class RTCPeerConnection {
    remoteDescription = { type, sdp };
    signalingState = signalingState;
    async setLocalDescription() { steps.push("local"); }
    async setRemoteDescription(description) { steps.push(description.sdp); }
  }
  const { capture } = load(["resignal.js"], { window: { RTCPeerConnection }, RTCPeerConnection });
  return { made: new RTCPeerConnection(), capture, steps };
}

test("the stream is renamed in its own media section and nowhere else", async () => {
  const { made, capture, steps } = connection("offer");
  assert.equal(await capture.resignal(made, "0", 99), true);
  assert.deepEqual(steps, [SDP.replaceAll("a=ssrc:11 ", "a=ssrc:99 "), "local"]);
});

test("an answer is applied after the browser's own offer", async () => {
  const { made, capture, steps } = connection("answer");
  await capture.resignal(made, "1", 99);
  assert.deepEqual(steps, ["local", SDP.replaceAll("a=ssrc:22 ", "a=ssrc:99 ")]);
});

test("nothing is done amid a negotiation, nor where the section names no stream", async () => {
  const busy = connection("offer", SDP, "have-local-offer");
  assert.equal(await busy.capture.resignal(busy.made, "0", 99), false);
  const unnamed = connection("offer");
  assert.equal(await unnamed.capture.resignal(unnamed.made, "7", 99), false);
  assert.deepEqual([busy.steps, unnamed.steps], [[], []]);
});
