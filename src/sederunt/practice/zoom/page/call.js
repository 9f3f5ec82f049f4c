// The call itself: footer, tiles, joining the audio, and who is on the stage.
"use strict";

(() => {
  /** @type {ZoomPractice} */
  const practice = window.practice;
  const { make, fill, find } = practice;
  /** @type {PracticePerson[]} */
  let roster = [];
  /** @type {number[]} */
  let speaking = [];
  let marks = true;
  let gallery = false;
  /** @type {Record<string, any>} */
  let quirks = {};

  /** The control socket lives in a Worker from the preview on. @param {PracticeHello} hello */
  function openControl(hello) {
    const query = new URLSearchParams({ code: hello.code, bot: hello.bot });
    const worker = new Worker(practice.trusted("/practice/zoom/control_worker.js"));
    worker.addEventListener("message", () => undefined);
    worker.postMessage({ address: `wss://rwg.zoom.us/webclient?${query}` });
  }

  /** @param {PracticeHello} hello */
  async function show(hello) {
    marks = hello.variant.marks !== false;
    quirks = hello.variant.quirks;
    gallery = hello.variant.layout === "gallery";
    fill(
      find("#screen"),
      make(
        "div",
        { id: "wc-container" },
        make("div", { id: "wc-content" }, gallery ? null : make("div", { class: "single-main-container__video-frame" })),
        make("div", { class: gallery ? "gallery-video-container__main-view" : "speaker-bar-container" }),
        practice.panels.panel(hello),
        footer(),
      ),
    );
    takeRoster(roster);
    practice.modals.keepTemplate();
    if (hello.variant.consent) practice.modals.notice("recording");
    if (quirks.standing) practice.modals.stand(quirks.standing);
    if (hello.variant.join_audio) await joinAudio();
    await connect(hello);
  }

  /** Nothing is heard before this dialog is answered; where it can be closed, the footer opens it again. @returns {Promise<void>} */
  function joinAudio() {
    return new Promise((resolve) => {
      const join = () => {
        dialog.remove();
        joinButton.replaceWith(microphone());
        resolve();
      };
      const button = make("button", { class: "zm-btn join-audio-by-voip__join-btn", click: join }, "Join Audio by Computer");
      const close = quirks.closable && make("button", { "aria-label": "close", click: () => dialog.remove() }, "×");
      const dialog = make("div", { class: "join-dialog zm-modal", role: "dialog" }, button, close);
      const ask = () => find("#notices").append(dialog);
      const joinButton = make("button", { "aria-label": "Join Audio", class: "join-audio-container__btn", click: ask }, "Join Audio");
      find(".join-audio-container__btn").replaceWith(joinButton);
      ask();
    });
  }

  function microphone() {
    return make("button", { "aria-label": "unmute my microphone", class: "join-audio-container__btn" }, "Unmute");
  }

  /** @param {PracticeHello} hello */
  async function connect(hello) {
    const overChannel = hello.variant.audio === "webaudio";
    if (overChannel) practice.speaker.start();
    await practice.media.connect({
      audio: overChannel ? 0 : hello.audio_tracks,
      localChannels: overChannel ? [hello.audio_channel] : ["ZoomWebclientVideoDataChannel"],
      variant: overChannel ? { ...hello.variant, offers: "page", video: 0 } : hello.variant,
      onChannelMessage: (/** @type {string} */ _label, /** @type {any} */ data) => overChannel && practice.speaker.take(data),
      place: (/** @type {HTMLElement} */ element) => find("#sounds").append(element),
    });
  }

  function footer() {
    return make(
      "div",
      { id: "wc-footer" },
      microphone(),
      practice.camera.toggle("start my video", "stop my video", { class: "send-video-container__btn" }, "Video"),
      make(
        "button",
        { "aria-label": "open the participants list pane", click: () => practice.panels.toggle("people") },
        "Participants",
        make("span", { class: "footer-button__number-counter" }, make("span", {}, "1")),
      ),
      make("button", { "aria-label": "open the chat panel", click: () => practice.panels.toggle("chat") }, "Chat"),
      make("button", { "aria-label": "Share Screen" }, "Share Screen"),
      make("div", { "footer-section": "right" }, make("button", { "aria-label": "Leave", click: askToLeave }, "Leave")),
    );
  }

  function askToLeave() {
    const leave = () => {
      practice.link.tell({ do: "leave" });
      practice.prejoin.end("left");
    };
    if (document.querySelector(".leave-meeting-options__btn--danger")) return;
    find("#wc-footer").append(make("button", { class: "leave-meeting-options__btn leave-meeting-options__btn--danger", click: leave }, "Leave Meeting"));
  }

  /** @param {PracticePerson[]} rows */
  function takeRoster(rows) {
    roster = rows;
    const counter = document.querySelector(".footer-button__number-counter span");
    if (counter) counter.textContent = String(roster.length);
    paint();
    practice.panels.takeRoster(rows);
  }

  /** The newest speaker is on the stage, everybody is in the bar; a gallery shows everybody alike. */
  function paint() {
    const bar = document.querySelector(".speaker-bar-container, .gallery-video-container__main-view");
    if (!bar) return;
    fill(bar, ...practice.tiles(roster, quirks, tile));
    if (gallery) return;
    const newest = roster.find((person) => person.csrc === speaking[speaking.length - 1]);
    const first = document.querySelector(".single-main-container__video-frame")?.firstChild ? undefined : quirks.large;
    const named = quirks.pinned || (newest ? "" : first);
    const main = named ? roster.find((person) => person.name === named) : newest;
    if (main) fill(find(".single-main-container__video-frame"), avatar(main));
  }

  /** @param {PracticePerson} person */
  function tile(person) {
    const frame = `${gallery ? "gallery-video-container" : "speaker-bar-container"}__video-frame`;
    const active = marks && (speaking.includes(person.csrc) || person.hand) ? ` ${frame}--active` : "";
    return make("div", { class: `${frame}${active}` }, avatar(person));
  }

  /** @param {PracticePerson} person */
  function avatar(person) {
    return make(
      "div",
      { class: "video-avatar__avatar" },
      person.avatar && make("img", { class: "video-avatar__avatar-img", alt: "", src: person.avatar }),
      make("div", { class: "video-avatar__avatar-name" }, person.name),
      make("div", { class: "video-avatar__avatar-footer" }, make("span", {}, person.name)),
    );
  }

  /** @param {number[]} nodes */
  function mark(nodes) {
    speaking = nodes;
    paint();
  }

  practice.call = { show, takeRoster, mark, openControl };
})();
