// Audio that the page decodes by itself and plays through WebAudio: what comes over a data channel, with no receiver at
// all, or the encoded frames of its receivers.
"use strict";

(() => {
  /** @type {Practice} */
  const practice = window.practice;
  const HEADER_BYTES = 8;
  const LEAD_S = 0.2; // held in advance, as clients do whose packets come over the internet
  /** @type {AudioContext | undefined} */
  let context;
  /** @type {PracticeVoice | undefined} what comes over the data channel */
  let channel;

  function start() {
    channel = voice();
  }

  /** One packet: sequence and sample time (4 bytes each), then Opus. @param {ArrayBuffer} data */
  function take(data) {
    if (channel) channel(data.slice(HEADER_BYTES), new DataView(data).getUint32(4));
  }

  /** A stream of Opus packets with its own decoder and its own place in time. @returns {PracticeVoice} */
  function voice() {
    context = context || new AudioContext({ sampleRate: 48000 });
    const playing = context;
    let playsUntil = 0;
    const decoder = new AudioDecoder({
      /** @param {AudioData} audio */
      output(audio) {
        const buffer = playing.createBuffer(1, audio.numberOfFrames, audio.sampleRate);
        audio.copyTo(buffer.getChannelData(0), { planeIndex: 0, format: "f32-planar" });
        audio.close();
        const source = playing.createBufferSource();
        source.buffer = buffer;
        source.connect(playing.destination);
        if (playsUntil <= playing.currentTime) playsUntil = playing.currentTime + LEAD_S;
        source.start(playsUntil);
        playsUntil += buffer.duration;
      },
      error: (error) => practice.link.tell({ do: "note", note: String(error) }),
    });
    decoder.configure({ codec: "opus", sampleRate: 48000, numberOfChannels: 1 });
    return (data, samples) => {
      const timestamp = Math.round((samples * 1e6) / 48000);
      decoder.decode(new EncodedAudioChunk({ type: "key", timestamp, data }));
    };
  }

  practice.speaker = { start, take, voice };
})();
