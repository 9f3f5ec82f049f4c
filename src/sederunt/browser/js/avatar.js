// The bot's camera: a still picture, shown anew once a second, because sites drop a camera that sends nothing. There is
// no device behind it (a fake one costs 7 to 10 % of a core), and nothing is done before the bot has a picture.
"use strict";

(() => {
  const { natives, replace, quietly } = capture;
  const devices = window.MediaDevices && MediaDevices.prototype;
  if (!devices || !window.MediaStreamTrackGenerator) return;
  const { MediaStreamTrackGenerator, VideoFrame, InputDeviceInfo } = window;
  const decode = window.createImageBitmap.bind(window);
  const AGAIN_MS = 1000;
  const SETTINGS = { width: 1280, height: 720, aspectRatio: 1280 / 720, frameRate: 30, deviceId: "camera", groupId: "camera" };
  const FACTS = { deviceId: "camera", groupId: "camera", kind: "videoinput", label: "Bot picture" };

  let installed = false;
  let given = config.avatar;
  /** @type {Promise<MediaStreamTrack> | undefined} */
  let source;
  /** @type {ImageBitmap} */
  let picture;
  let show = () => {};

  /** @param {string} avatar @returns {Promise<ImageBitmap>} */
  const pictureOf = (avatar) =>
    decode(new natives.Blob([Uint8Array.from(atob(avatar), (letter) => letter.charCodeAt(0))]));

  /** The one track that all others are copies of. @returns {Promise<MediaStreamTrack>} */
  async function open() {
    picture = await pictureOf(String(given));
    const track = new MediaStreamTrackGenerator({ kind: "video" });
    const writer = track.writable.getWriter();
    show = () => {
      const frame = new VideoFrame(picture, { timestamp: Math.round(natives.now() * 1000) });
      writer.write(frame).catch(() => frame.close());
    };
    show();
    natives.setInterval(() => quietly(show), AGAIN_MS);
    capture.tell("capture", { event: "camera" });
    return track;
  }

  async function camera() {
    source = source || open();
    const track = (await source).clone();
    const own = { getSettings: () => ({ ...SETTINGS }), applyConstraints: () => Promise.resolve() };
    for (const [name, value] of Object.entries({ ...own, label: FACTS.label })) {
      Object.defineProperty(track, name, { value, configurable: true });
    }
    return track;
  }

  /**
   * The machine's microphone where it has one, else silence: a page that asked for both must not go without.
   * @param {Function} native @param {any} self @param {any} audio
   */
  async function microphone(native, self, audio) {
    try {
      return (await Reflect.apply(native, self, [{ audio }])).getAudioTracks();
    } catch {
      return capture.silentMicrophone();
    }
  }

  function install() {
    installed = true;
    replace(devices, "getUserMedia", (native, self, args) => {
      const wanted = args[0];
      if (!wanted || !wanted.video) return Reflect.apply(native, self, args);
      const sounds = wanted.audio ? microphone(native, self, wanted.audio) : Promise.resolve([]);
      return Promise.all([camera(), sounds]).then(([picture, sound]) => new natives.MediaStream([picture, ...sound]));
    });

    // A page does not offer its camera switch where no camera is listed.
    replace(devices, "enumerateDevices", async (native, self, args) => {
      /** @type {MediaDeviceInfo[]} */
      const listed = await Reflect.apply(native, self, args);
      if (listed.some((device) => device.kind === "videoinput" && device.label)) return listed;
      const device = Object.create(InputDeviceInfo.prototype);
      for (const [name, value] of Object.entries(FACTS)) Object.defineProperty(device, name, { value, enumerable: true });
      Object.defineProperty(device, "toJSON", { value: () => ({ ...FACTS }) });
      return [...listed.filter((other) => other.kind !== "videoinput"), device];
    });
  }

  /** Show this picture from now on. Where there was none, the page is told of a camera. @param {string} avatar */
  async function change(avatar) {
    const next = await pictureOf(avatar);
    given = avatar;
    if (source) {
      await source;
      picture = next;
      show();
    } else if (!installed) {
      install();
      Reflect.apply(natives.dispatch, navigator.mediaDevices, [new Event("devicechange")]);
    }
  }

  if (given) install();
  capture.camera = { change, isOpen: () => source !== undefined };
})();
