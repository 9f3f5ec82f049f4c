import assert from "node:assert/strict";
import { test } from "node:test";
import { load, plain } from "./load.mjs";

/** A receiver whose frames we hold, or not; `ask` is what the page does. */
function page(forward = "none") {
  const entry = { track: 3, kind: "audio", backend: "encoded", mode: { forward } };
  const watched = [];
  const answers = {};
  const clock = { ms: 50_000 };
  const { capture } = load(["contributors.js"], {
    RTCRtpReceiver: class {},
    capture: {
      taps: { watchSources: (one) => watched.push(one.track) },
      receivers: { entryOf: () => entry },
      replace: (_owner, name, act) => (answers[name] = act),
      quietly: (act) => act(),
      wallMs: () => clock.ms,
    },
  });
  const ask = (name) => plain(answers[name](() => ["the browser's own"], {}, []));
  return { ask, hear: capture.contributors.hear, watched, clock };
}

test("contributing and synchronization sources are listed apart, the newest first", () => {
  const { ask, hear } = page();
  ask("getContributingSources");
  hear([3, 1, 77, 49_000, 960, 0.5, 3, 1, 88, 49_500, 1920, -1, 3, 0, 5, 49_900, 1920, 0.25]);
  assert.deepEqual(ask("getContributingSources"), [
    { source: 88, timestamp: 49_500, rtpTimestamp: 1920 },
    { source: 77, timestamp: 49_000, rtpTimestamp: 960, audioLevel: 0.5 },
  ]);
  assert.deepEqual(ask("getSynchronizationSources").map(({ source }) => source), [5]);
});

test("who was heard more than ten seconds ago is listed no more", () => {
  const { ask, hear, clock } = page();
  ask("getContributingSources");
  hear([3, 1, 77, 49_000, 960, 0.5]);
  clock.ms = 59_001;
  assert.deepEqual(ask("getContributingSources"), []);
});

test("a track is watched from the page's first question on, once", () => {
  const { ask, watched } = page();
  ask("getContributingSources");
  ask("getSynchronizationSources");
  assert.deepEqual(watched, [3]);
});

test("where frames go on to the page's decoder the browser answers itself", () => {
  const { ask, watched } = page("all");
  assert.deepEqual(ask("getContributingSources"), ["the browser's own"]);
  assert.deepEqual(watched, []);
});
