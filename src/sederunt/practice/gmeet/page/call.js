// The call itself: tiles, controls, media, and who speaks.
"use strict";

(() => {
  /** @type {MeetPractice} */
  const practice = window.practice;
  const { make, fill, find } = practice;
  const SPEAKING = "Oaajhc";
  const SILENT = "gjg47c";
  /** @type {PracticePerson[]} */
  let roster = [];
  /** @type {Set<number>} */
  let heard = new Set();
  /** @type {Record<string, any>} */
  let quirks = {};

  /** @param {PracticeHello} hello */
  async function show(hello) {
    practice.panels.prepare(hello);
    quirks = hello.variant.quirks;
    fill(
      find("#screen"),
      make("div", { "aria-live": "polite" }, "You have joined the call"),
      make("div", { id: "alone", role: "status" }),
      make("div", { id: "tiles" }),
      practice.panels.panel(),
      make("div", { role: "region", "aria-label": "Captions", hidden: true }),
      controls(),
    );
    takeRoster(roster);
    practice.camera.show(true); // on entering both switches stand on, whatever they were before
    if (hello.variant.consent) practice.notices.notice("recording");
    if (quirks.standing) practice.notices.stand(quirks.standing);
    if (hello.variant.speaking === "server") practice.link.on("speaking", mark);
    else practice.media.watchSources(mark);
    await sync(hello.code);
    const overChannel = ["webaudio", "beside_receivers"].includes(hello.variant.audio);
    if (overChannel) practice.speaker.start();
    await practice.media.connect({
      audio: hello.variant.audio === "webaudio" ? 0 : 3,
      localChannels: ["captions", "media-director", ...(overChannel ? ["dcrpc", "media-audio"] : [])],
      variant: overChannel ? { ...hello.variant, offers: "page" } : hello.variant,
      onChannelMessage: (/** @type {string} */ label, /** @type {any} */ data) =>
        label === "media-audio" && practice.speaker.take(data),
      place: (/** @type {HTMLElement} */ element) => find("#sounds").append(element),
    });
  }

  function controls() {
    const leave = () => {
      practice.link.tell({ do: "leave" });
      practice.prejoin.end("left");
    };
    return make(
      "div",
      { role: "region", "aria-label": "Call controls" },
      practice.prejoin.toggle("microphone"),
      practice.prejoin.toggle("camera", practice.camera.show),
      captions(),
      make("button", { "aria-label": "Raise hand" }, make("i", {}, "back_hand")),
      make("button", { "aria-label": "Send a reaction" }, make("i", {}, "mood")),
      make("button", { "aria-label": "Share screen" }, make("i", {}, "present_to_all")),
      make("button", { jsname: "NakZHc", "aria-label": "More options" }, make("i", {}, "more_vert")),
      make("button", { jsname: "CQylAd", "aria-label": "Leave call", click: leave }, make("i", {}, "call_end")),
      make("button", { "aria-label": "Meeting details" }, make("i", {}, "info")),
      panelButton("Show everyone", "people"),
      panelButton("Chat with everyone", "chat"),
    );
  }

  function captions() {
    const button = make("button", { "aria-label": "Turn on captions" }, make("i", {}, "closed_caption"));
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-label") === "Turn on captions";
      button.setAttribute("aria-label", on ? "Turn off captions" : "Turn on captions");
    });
    return button;
  }

  /** @param {string} label @param {PracticePanel} name */
  function panelButton(label, name) {
    return make(
      "button",
      { "aria-label": label, "aria-pressed": "false", click: () => practice.panels.toggle(name) },
      make("i", {}, name === "chat" ? "chat" : "people"),
    );
  }

  /** The roster over HTTP, once, as the site fetches it on entering. @param {string} code */
  async function sync(code) {
    const address = "/$rpc/google.rtc.meetings.v1.MeetingSpaceService/SyncMeetingSpaceCollections";
    await (await fetch(address, { method: "POST", headers: { "x-meeting": code }, body: code })).text();
  }

  /** @param {PracticePerson[]} rows */
  function takeRoster(rows) {
    roster = rows;
    const tiles = document.querySelector("#tiles");
    if (tiles) fill(tiles, ...practice.tiles(roster, quirks, tile));
    const alone = document.querySelector("#alone");
    if (alone) alone.textContent = quirks.only_one && rows.length === 1 ? "You’re the only one here" : "";
    practice.panels.takeRoster(rows);
  }

  /** @param {PracticePerson} person */
  function tile(person) {
    const speaks = heard.has(person.csrc) || person.hand;
    return make(
      "div",
      { class: "tile", "data-participant-id": person.key, "data-requested-participant-id": person.key },
      make("span", { class: "notranslate", "data-self-name": person.self ? person.name : null }, person.name),
      make("div", { class: `ring ${speaks ? SPEAKING : SILENT}` }),
    );
  }

  /** Speaking marks change in place, so that nothing else on the page moves. @param {number[]} csrcs */
  function mark(csrcs) {
    heard = new Set(csrcs);
    for (const person of roster) {
      const ring = document.querySelector(`.tile[data-participant-id="${person.key}"] .ring`);
      if (ring) ring.className = `ring ${heard.has(person.csrc) || person.hand ? SPEAKING : SILENT}`;
    }
  }

  practice.call = { show, takeRoster };
})();
