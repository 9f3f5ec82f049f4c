// A microphone that hears nothing, for pages that let nobody in without one. There is no device behind it, and nothing is
// rendered: what comes of it sends no packet.
"use strict";

(() => {
  const { natives, replace } = capture;
  const devices = window.MediaDevices && MediaDevices.prototype;
  const AudioContext = natives.AudioContext || window.AudioContext;
  if (!devices || !AudioContext) return;

  capture.silentMicrophone = async () => {
    const context = new AudioContext();
    await context.suspend();
    return context.createMediaStreamDestination().stream.getAudioTracks();
  };

  if (config.watch.microphone !== "silent") return;
  replace(devices, "getUserMedia", async (native, self, args) => {
    const wanted = args[0];
    if (!wanted || !wanted.audio || wanted.video) return Reflect.apply(native, self, args);
    try {
      return await Reflect.apply(native, self, args);
    } catch {
      return new natives.MediaStream(await capture.silentMicrophone());
    }
  });
})();
