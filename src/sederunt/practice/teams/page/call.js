// The call itself: toolbar, tiles, media, the site's own socket, and who speaks.
"use strict";

(() => {
  /** @type {TeamsPractice} */
  const practice = window.practice;
  const { make, fill, find } = practice;
  const SPEAKING = "vdi-frame-occlusion";
  /** @type {PracticePerson[]} */
  let roster = [];
  /** @type {Set<number>} */
  let heard = new Set();
  /** @type {Record<string, any>} */
  let quirks = {};
  let marks = true;

  /** The site's own signalling, open from the prejoin screen on. @param {PracticeHello} hello */
  function openTrouter(hello) {
    const query = new URLSearchParams({ code: hello.code, bot: hello.bot });
    return new WebSocket(`wss://go-eu.trouter.teams.microsoft.com/v4/c?${query}`);
  }

  /** @param {PracticeHello} hello */
  async function show(hello) {
    quirks = hello.variant.quirks;
    marks = hello.variant.marks;
    fill(
      find("#screen"),
      hello.variant.toolbar === "narrow"
        ? make("div", {}, ...devices(), make("div", { class: "tiles" }))
        : make("div", { "data-tid": "callingScreen" }, toolbar(), make("div", { class: "tiles", "data-tid": "modern-stage-wrapper" })),
      practice.panels.pane(hello),
    );
    takeRoster(roster);
    exposeCall(hello);
    if (hello.variant.consent) practice.notices.notice("recording");
    if (hello.variant.speaking === "server") practice.link.on("speaking", mark);
    else practice.media.watchSources(mark);
    await askForRoster(hello);
    await practice.media.connect({
      audio: 1,
      localChannels: ["main-channel"],
      variant: hello.variant,
      onChannelMessage: () => undefined,
      place: (/** @type {HTMLElement} */ element) => find("#sounds").append(element),
    });
  }

  /** @param {PracticeHello} hello */
  async function askForRoster(hello) {
    const links = { rosterUpdate: `https://go-eu.trouter.teams.microsoft.com/v4/f/practice/callAgent/${hello.call}/rosterUpdate/` };
    await (quirks.deltas
      ? fetch(`/api/flightproxy/v2/ep/practice/conv/${hello.call}`, { method: "POST", body: JSON.stringify({ links }) })
      : fetch(`/api/callagent/conversation/roster/${hello.code}`));
  }

  function toolbar() {
    return make(
      "div",
      { "data-tid": "calling-toolbar", role: "toolbar" },
      make("button", { id: "chat-button", "aria-label": "Chat", click: () => practice.panels.toggle("chat") }, "Chat"),
      make(
        "button",
        { id: "roster-button", "data-tid": "roster-button", "aria-label": "People", click: () => practice.panels.toggle("people") },
        "People",
        make("span", { "data-tid": "toolbar-item-badge" }, "1"),
      ),
      make("button", { id: "raisehands-button", "aria-label": "Raise" }, "Raise"),
      make("button", { "aria-label": "React" }, "React"),
      make("button", { id: "view-mode-button", "aria-label": "View" }, "View"),
      make("button", { id: "screenshare-button", "aria-label": "Share" }, "Share"),
      ...devices(),
    );
  }

  /** What no layout does without. */
  function devices() {
    return [
      make("button", { id: "callingButtons-showMoreBtn", "aria-label": "More" }, "More"),
      practice.camera.toggle("Turn camera on", "Turn camera off", { id: "video-button" }, "Camera"),
      make("button", { id: "microphone-button", "aria-label": "Unmute mic" }, "Mic"),
      make("button", { id: "hangup-button", "data-tid": "hangup-main-btn", "aria-label": "Leave", click: practice.prejoin.leave }, "Leave"),
    ];
  }

  /** @param {PracticePerson[]} rows */
  function takeRoster(rows) {
    roster = rows;
    const stage = document.querySelector(".tiles");
    if (stage) {
      const screens = roster.filter((person) => person.sharing).map((person) => tile(person, "ScreenSharing"));
      fill(stage, ...practice.tiles(roster, quirks, (person) => tile(person, "Video")), ...screens);
    }
    const badge = document.querySelector('[data-tid="toolbar-item-badge"]');
    if (badge) badge.textContent = String(roster.length);
    practice.panels.takeRoster(rows);
  }

  /** @param {PracticePerson} person @param {string} kind */
  function tile(person, kind) {
    const ring = (heard.has(person.csrc) || person.hand) && kind === "Video" ? SPEAKING : "";
    const names = quirks.addresses
      ? { "data-tid": `person${person.csrc}@contoso.com`, "aria-label": `${person.name} External unfamiliar, video is on, Context menu is available` }
      : { "data-tid": person.name };
    return make(
      "div",
      { role: "menuitem", "data-stream-type": kind, "data-source": person.csrc, ...names },
      marks && make("div", { "data-tid": "voice-level-stream-outline", class: ring }),
      !quirks.addresses &&
        make("span", { "data-tid": "participant-info-nametag" }, person.self ? `${person.name} (Unverified)` : person.name),
    );
  }

  /** @param {number[]} csrcs */
  function mark(csrcs) {
    heard = new Set(csrcs);
    for (const box of document.querySelectorAll('[data-stream-type="Video"]')) {
      const person = roster.find((each) => String(each.csrc) === box.getAttribute("data-source"));
      const speaks = person !== undefined && (heard.has(person.csrc) || person.hand);
      box.querySelector('[data-tid="voice-level-stream-outline"]')?.classList.toggle(SPEAKING, speaks);
    }
  }

  /** The page globals that the client is known to have. @param {PracticeHello} hello */
  function exposeCall(hello) {
    /** @type {any} */ (window).callingDebug = {
      observableCall: {
        _callId: hello.code,
        get participants() {
          return roster.map((person) => ({
            id: person.key,
            displayName: person.name,
            meetingRole: person.host ? "organizer" : "attendee",
            isServerMuted: person.muted,
            hasAudioSource: (/** @type {number} */ source) => source === person.csrc,
          }));
        },
        get callerMri() {
          return roster.find((person) => person.self)?.key;
        },
      },
    };
  }

  practice.call = { show, takeRoster, openTrouter };
})();
