// The screens before the call: name, devices, join button, lobby, and every refusal.
"use strict";

(() => {
  /** @type {TeamsPractice} */
  const practice = window.practice;
  const { make, fill, find } = practice;

  /** @param {PracticeHello} hello */
  async function show(hello) {
    const { variant } = hello;
    const name = /** @type {HTMLInputElement} */ (
      make("input", { type: "text", "data-tid": "prejoin-display-name-input", placeholder: "Type your name", maxlength: 120 })
    );
    if (hello.account) name.value = hello.account;
    const join = joinButton(name, hello);
    name.addEventListener("input", () => join.toggleAttribute("disabled", !name.value.trim()));
    fill(
      find("#screen"),
      make("h1", {}, hello.title),
      hello.account ? make("div", {}, hello.account) : name,
      toggle("toggle-video", "Camera", "camera"),
      toggle("toggle-mute", "Microphone", "microphone"),
      sound("Computer audio", true, !variant.quirks.soundless),
      sound("Don't use audio", false, variant.quirks.soundless),
      variant.entry === "captcha" && captcha(),
      make("button", { "data-tid": "prejoin-cancel-button" }, "Cancel"),
      join,
      make("a", {}, "Sign in"),
    );
    if (["before", "both"].includes(variant.devices_modal)) await practice.notices.askForDevices();
  }

  /** @param {string} tid @param {string} label @param {string} device */
  function toggle(tid, label, device) {
    const button = make("div", { role: "switch", tabindex: 0, "data-tid": tid, "aria-label": label, "aria-checked": "true" });
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-checked") !== "true";
      button.setAttribute("aria-checked", String(on));
      practice.link.tell({ do: "facts", facts: { [device]: on } });
    });
    return button;
  }

  /** One choice of sound; its words are the label's. @param {string} words @param {boolean} heard @param {boolean} chosen */
  function sound(words, heard, chosen) {
    const tell = () => practice.link.tell({ do: "facts", facts: { sound: heard } });
    if (chosen) tell();
    return make("label", {}, make("input", { type: "radio", name: "audio", checked: chosen, change: tell }), words);
  }

  /** @param {HTMLInputElement} name @param {PracticeHello} hello */
  function joinButton(name, hello) {
    const button = make("button", { "data-tid": "prejoin-join-button", disabled: !hello.account }, "Join now");
    let asked = false;
    button.addEventListener("click", async () => {
      if (!asked && ["after", "both"].includes(hello.variant.devices_modal)) {
        asked = true;
        await practice.notices.askForDevices(); // the button stays where it is and has to be pressed again
        return;
      }
      button.toggleAttribute("disabled", true);
      practice.link.tell({ do: "ask", name: name.value.trim() });
    });
    return button;
  }

  function captcha() {
    return make(
      "div",
      {},
      make("div", {}, "Verify you're a real person"),
      make("img", { "data-tid": "HIP-Captcha-Image", alt: "", width: 200, height: 80, src: "/practice/teams/captcha.svg" }),
    );
  }

  /** @param {PracticeWaiting} kind @param {string} name */
  function lobby(kind, name) {
    fill(
      find("#screen"),
      make("div", { "data-tid": "lobby-screen" }, `Hi, ${name}. `, practice.words.say(practice.words.LOBBY[kind])),
      toggle("toggle-mute", "Microphone", "microphone"),
      make("button", { "data-tid": "prejoin-cancel-button", click: leave }, "Leave"),
    );
  }

  function leave() {
    practice.link.tell({ do: "leave" });
    end("left");
  }

  /** A screen after which nothing comes. @param {string} kind */
  function end(kind) {
    const { heading, more, id, rejoin, retry } = practice.words.ENDS[kind];
    practice.media.close();
    practice.camera.stop();
    practice.notices.banner("");
    fill(
      find("#screen"),
      make("h1", { id: id || null, "data-tid": id || null }, practice.words.say(heading)),
      more && make("div", {}, practice.words.say(more)),
      rejoin && make("button", { "data-tid": "anon-meeting-end-screen-rejoin-button" }, "Rejoin"),
      retry && make("button", { "data-tid": "calling-retry-cancelbutton" }, "Dismiss"),
    );
    if (kind === "left") practice.link.close();
  }

  practice.prejoin = { show, lobby, end, leave };
})();
