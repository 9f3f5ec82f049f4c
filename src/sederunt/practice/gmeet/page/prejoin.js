// The screens before the call: media prompt, name, devices, join button, lobby, and every refusal.
"use strict";

(() => {
  /** @type {MeetPractice} */
  const practice = window.practice;
  const { make, fill, find } = practice;
  const PROMPTS = {
    both: {
      text: "Do you want people to see and hear you in the meeting?",
      buttons: ["Use microphone and camera", "Continue without microphone and camera"],
    },
    microphone: {
      text: "Do you want people to hear you in the meeting?",
      buttons: ["Use microphone", "Continue without microphone"],
    },
  };

  /** @param {PracticeHello} hello */
  async function show(hello) {
    const { variant } = hello;
    const prompt = PROMPTS[/** @type {"both" | "microphone"} */ (variant.media_prompt)];
    if (variant.cookie_banner) practice.notices.notice("sign_in");
    if (prompt) await practice.notices.ask(practice.words.say(prompt.text), prompt.buttons);
    const name = hello.account ? null : nameField();
    const knocks = !["open", "sign_in", "ended"].includes(variant.entry);
    const join = joinButton(knocks ? "Ask to join" : "Join now", name, hello);
    fill(
      find("#screen"),
      make("h1", {}, practice.words.say(variant.heading || (name ? "What's your name?" : "Ready to join?"))),
      name,
      toggle("microphone"),
      toggle("camera"),
      join,
      make("button", { "aria-label": "Other ways to join" }, make("span", {}, "Other ways to join")),
      make("audio", {}),
    );
    name?.addEventListener("input", () => join.toggleAttribute("disabled", !name.value.trim()));
  }

  function nameField() {
    return /** @type {HTMLInputElement} */ (
      make("input", { type: "text", jsname: "YPqjbf", "aria-label": "Your name", maxlength: 60, autocomplete: "name" })
    );
  }

  /**
   * A microphone or camera switch whose label is its state.
   * @param {string} device
   * @param {(on: boolean) => void} [changed]
   */
  function toggle(device, changed) {
    const button = make("div", { role: "button", tabindex: 0, "data-is-muted": "false", "aria-label": `Turn off ${device}` });
    button.append(make("i", { class: "google-material-icons" }, device === "camera" ? "videocam" : "mic"));
    button.addEventListener("click", () => {
      const off = button.getAttribute("data-is-muted") === "true";
      button.setAttribute("data-is-muted", String(!off));
      button.setAttribute("aria-label", `Turn ${off ? "off" : "on"} ${device}`);
      practice.link.tell({ do: "facts", facts: { [device]: off } });
      if (changed) changed(off);
    });
    return button;
  }

  /**
   * @param {string} label
   * @param {HTMLInputElement | null} name
   * @param {PracticeHello} hello
   */
  function joinButton(label, name, hello) {
    const button = make("button", { jsname: "Qx7uuf", disabled: name !== null }, make("span", {}, label));
    button.addEventListener("click", async (event) => {
      if (hello.variant.trusted_clicks && !event.isTrusted) return;
      if (hello.variant.two_step) await practice.notices.notice("recording");
      await createDevice(hello.code);
      practice.link.tell({ do: "ask", name: name ? name.value.trim() : hello.account });
    });
    return button;
  }

  /** The site's own join handshake; its answer carries the bot mark. @param {string} code */
  async function createDevice(code) {
    const address = "/$rpc/google.rtc.meetings.v1.MeetingDeviceService/CreateMeetingDevice";
    await (await fetch(address, { method: "POST", headers: { "x-meeting": code }, body: code })).text();
  }

  /** @param {PracticeWaiting} kind */
  function lobby(kind) {
    fill(
      find("#screen"),
      make("div", { "data-participant-id": "visual_effects", "aria-label": "Backgrounds and effects" }),
      ...practice.words.LOBBY[kind].map((/** @type {string} */ text) => make("div", {}, practice.words.say(text))),
      toggle("microphone"),
      toggle("camera"),
      make("button", { "aria-label": "Leave call", click: () => end("left") }, make("i", {}, "call_end")),
      make("button", {}, make("span", {}, "Return to home screen")),
    );
  }

  // Their screens count down, whatever they say; only the hard block's page is left in the end.
  const LEAVING = ["blocked", "locked", "full"];

  /** A screen after which nothing comes. @param {string} kind @param {number} [redirectS] */
  function end(kind, redirectS) {
    const { heading, more = [], buttons = [] } = practice.words.ENDS[kind];
    practice.media.close();
    practice.camera.stop();
    practice.notices.banner("");
    fill(
      find("#screen"),
      make("h1", { class: "roSPhc", jsname: "r4nke" }, practice.words.say(heading)),
      ...more.map((/** @type {string} */ text) => make("div", {}, practice.words.say(text))),
      ...buttons.map((/** @type {string} */ label) => make("button", {}, make("span", {}, label))),
      LEAVING.includes(kind) && make("div", {}, "Returning to home screen"),
    );
    if (kind === "blocked") setTimeout(() => location.assign("https://workspace.google.com/products/meet/"), 1000 * (redirectS || 60));
    if (kind === "left") practice.link.close();
  }

  /** A challenge that a person would have to solve. */
  function captcha() {
    const frame = make("iframe", { src: "/practice/recaptcha/anchor", width: 304, height: 78, title: "reCAPTCHA" });
    find("#screen").append(frame);
  }

  practice.prejoin = { show, lobby, end, captcha, toggle };
})();
