// The visitor's own camera: asked of the browser, and sent over a connection of its own. Pages without one do without.
"use strict";

(() => {
  /** @type {Practice} */
  const practice = window.practice;
  /** @type {RTCPeerConnection | undefined} */
  let publisher;

  /** @param {boolean} on */
  async function show(on) {
    stop();
    if (!on) return;
    const made = new RTCPeerConnection();
    publisher = made;
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ video: { width: 1280, height: 720 } });
      for (const track of stream.getTracks()) made.addTrack(track, stream);
    } catch {
      if (publisher === made) stop();
      return;
    }
    await made.setLocalDescription();
    practice.link.tell({ do: "publish", sdp: made.localDescription && made.localDescription.sdp });
  }

  function stop() {
    if (publisher) publisher.close();
    publisher = undefined;
  }

  practice.link.on("published", (/** @type {string} */ sdp) => {
    if (publisher) publisher.setRemoteDescription({ type: "answer", sdp });
  });
  /**
   * The camera switch of a call; its label is its state, and it stands off on entering.
   * @param {string} on label while it would switch on @param {string} off label while it would switch off
   * @param {Record<string, unknown>} attributes @param {string} text
   */
  function toggle(on, off, attributes, text) {
    const button = practice.make("button", { ...attributes, "aria-label": on }, text);
    button.addEventListener("click", () => {
      const shows = button.getAttribute("aria-label") === on;
      button.setAttribute("aria-label", shows ? off : on);
      practice.link.tell({ do: "facts", facts: { camera: shows } });
      show(shows);
    });
    return button;
  }

  practice.camera = { show, stop, toggle };
})();
