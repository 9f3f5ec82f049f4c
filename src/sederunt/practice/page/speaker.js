// Audio that comes over a data channel: decoded by the page and played through WebAudio, with no receiver at all.
"use strict";

(() => {
  /** @type {Practice} */
  const practice = window.practice;
  const HEADER_BYTES = 8;
  const LEAD_S = 0.2; // held in advance, as clients do whose packets come over the internet
  /** @type {AudioContext | undefined} */
  let context;
  let playsUntil = 0;

  /** @type {AudioDecoder | undefined} */
  let decoder;

  function start() {
    context = new AudioContext({ sampleRate: 48000 });
    decoder = new AudioDecoder({ output: play, error: (error) => practice.link.tell({ do: "note", note: String(error) }) });
    decoder.configure({ codec: "opus", sampleRate: 48000, numberOfChannels: 1 });
  }

  /** One packet: sequence and sample time (4 bytes each), then Opus. @param {ArrayBuffer} data */
  function take(data) {
    if (!decoder) return;
    const samples = new DataView(data).getUint32(4);
    const timestamp = Math.round((samples * 1e6) / 48000);
    decoder.decode(new EncodedAudioChunk({ type: "key", timestamp, data: data.slice(HEADER_BYTES) }));
  }

  /** @param {AudioData} audio */
  function play(audio) {
    if (!context) return;
    const buffer = context.createBuffer(1, audio.numberOfFrames, audio.sampleRate);
    audio.copyTo(buffer.getChannelData(0), { planeIndex: 0, format: "f32-planar" });
    audio.close();
    const source = context.createBufferSource();
    source.buffer = buffer;
    source.connect(context.destination);
    if (playsUntil <= context.currentTime) playsUntil = context.currentTime + LEAD_S;
    source.start(playsUntil);
    playsUntil += buffer.duration;
  }

  practice.speaker = { start, take };
})();
