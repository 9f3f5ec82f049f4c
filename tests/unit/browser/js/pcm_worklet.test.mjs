import assert from "node:assert/strict";
import { test } from "node:test";
import { load, plain } from "./load.mjs";

/** The processor on an audio thread of the test's own; `render` gives it one quantum. */
function worklet({ block = 256, inputs = 2 } = {}) {
  let Processor;
  const realm = load(["pcm_worklet.js"], {
    AudioWorkletProcessor: class { port = {}; },
    registerProcessor: (_name, made) => (Processor = made),
    currentFrame: 0,
    sampleRate: 16_000,
  });
  const node = new Processor({ processorOptions: { block, inputs } });
  const sent = [];
  const tell = (data) => node.port.onmessage({ data });
  tell({ out: { postMessage: (message) => sent.push(message) } });
  for (let input = 0; input < inputs; input += 1) tell({ input, track: 10 + input });
  const render = (levels, lost = 0) => {
    realm.currentFrame += 128 * lost;
    node.process(levels.map((level) => (level === null ? [] : [new Float32Array(128).fill(level)])));
    realm.currentFrame += 128;
  };
  return { render, tell, sent };
}

test("a full block is sent as 16-bit samples that do not wrap round", () => {
  const { render, sent } = worklet({ inputs: 1 });
  render([0.5]);
  render([2]);
  assert.equal(sent.length, 1);
  const samples = new Int16Array(sent[0].blocks[0].data);
  assert.deepEqual([samples.length, samples[0], samples[255]], [256, 16_384, 32_767]);
});

test("digital silence is not sent; a track that is heard later in the block begins with zeros", () => {
  const { render, sent } = worklet();
  render([0, null]);
  render([0.25, 0]);
  assert.deepEqual(plain(sent[0].blocks.map(({ track }) => track)), [10]);
  const samples = new Int16Array(sent[0].blocks[0].data);
  assert.deepEqual([samples[0], samples[128]], [0, 8192]);
});

test("a lost quantum closes the block, and the next one's start tells the gap", () => {
  const { render, tell, sent } = worklet({ inputs: 1 });
  render([0.5]);
  render([0.5], 3);
  tell({ flush: true });
  const blocks = sent.flatMap((message) => message.blocks);
  assert.deepEqual(blocks.map(({ start, sequence }) => [start, sequence]), [[0, 0], [512, 1]]);
});
