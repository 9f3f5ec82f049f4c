// The audio worklet: N inputs in, blocks of 16-bit samples out, at the rate of their context. All inputs share one
// clock and one block, so tracks stay aligned to the sample. A lost render quantum shows as a step of `currentFrame`,
// which the next block's start tells.
"use strict";

registerProcessor(
  "sederunt-pcm",
  class extends AudioWorkletProcessor {
    /** @param {{processorOptions: {block: number, inputs: number}}} options */
    constructor(options) {
      super();
      const { block, inputs } = options.processorOptions;
      this.block = block;
      this.buffers = Array.from({ length: inputs }, () => new Int16Array(block));
      this.heard = new Array(inputs).fill(false);
      this.sequences = new Array(inputs).fill(0);
      /** @type {number[]} input → track number */
      this.tracks = new Array(inputs).fill(-1);
      this.filled = 0;
      this.start = 0;
      this.expected = -1;
      /** @type {MessagePort | undefined} */
      this.out = undefined;
      this.port.onmessage = ({ data }) => {
        if (data.out) this.out = data.out;
        if ("input" in data) this.tracks[data.input] = data.track;
        if (data.flush) this.flush();
      };
    }

    /** @param {Float32Array[][]} inputs @returns {boolean} */
    process(inputs) {
      if (this.expected >= 0 && currentFrame !== this.expected) this.flush();
      if (this.filled === 0) this.start = currentFrame;
      const length = 128;
      for (let input = 0; input < inputs.length; input += 1) this.fill(input, inputs[input][0], length);
      this.filled += length;
      this.expected = currentFrame + length;
      if (this.filled + length > this.block) this.flush();
      return true;
    }

    /** @param {number} input @param {Float32Array | undefined} samples @param {number} length */
    fill(input, samples, length) {
      const buffer = this.buffers[input];
      if (!samples) {
        if (this.heard[input]) buffer.fill(0, this.filled, this.filled + length);
        return;
      }
      let any = 0;
      for (let i = 0; i < length; i += 1) {
        const sample = samples[i] * 32768;
        const value = sample > 32767 ? 32767 : sample < -32768 ? -32768 : Math.round(sample);
        buffer[this.filled + i] = value;
        any |= value;
      }
      if (any && !this.heard[input]) {
        this.heard[input] = true;
        buffer.fill(0, 0, this.filled);
      }
    }

    /** Digital silence is not sent: the next block's start tells how long it was. */
    flush() {
      /** @type {any[]} */
      const blocks = [];
      this.heard.forEach((heard, input) => {
        if (!heard || this.tracks[input] < 0) return;
        const data = this.buffers[input].slice(0, this.filled).buffer;
        blocks.push({ track: this.tracks[input], sequence: this.sequences[input], start: this.start, data });
        this.sequences[input] += 1;
      });
      this.heard.fill(false);
      this.filled = 0;
      if (blocks.length && this.out) {
        this.out.postMessage({ rate: sampleRate, blocks }, blocks.map((block) => block.data));
      }
    }
  },
);
