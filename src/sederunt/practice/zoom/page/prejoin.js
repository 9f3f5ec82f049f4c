// The screens before the call: prompts, preview, waiting room, and every refusal.
"use strict";

(() => {
  /** @type {ZoomPractice} */
  const practice = window.practice;
  const { make, fill, find } = practice;

  /** @param {PracticeHello} hello @param {boolean} [again] the passcode was wrong */
  async function show(hello, again = false) {
    const { variant } = hello;
    if (variant.cookie_banner && !again) practice.modals.cookies();
    if (variant.media_prompt !== "off" && !again) await mediaPrompt();
    const given = new URLSearchParams(location.search).get("pwd") || "";
    const asks = again || (variant.passcode && given !== variant.passcode);
    const name = field("input-for-name", "Your Name", "text");
    if (hello.account) name.value = hello.account;
    const passcode = asks ? field("input-for-pwd", "Meeting Passcode", "password") : null;
    const join = make("button", { type: "button", class: "zm-btn preview-join-button" }, "Join");
    const ready = () => name.value.trim() !== "" && (!passcode || passcode.value !== "");
    const review = () => join.classList.toggle("disabled", !ready());
    name.addEventListener("input", review);
    passcode?.addEventListener("input", review);
    review();
    join.addEventListener("click", async (event) => {
      if (!ready() || (variant.trusted_clicks && !event.isTrusted)) return;
      if (variant.disclaimer) await disclaimer(variant.disclaimer);
      fill(find("#screen"), make("div", { class: "joining" }, "Joining Meeting..."));
      practice.link.tell({ do: "ask", name: name.value.trim(), passcode: passcode ? passcode.value : given });
    });
    fill(
      find("#screen"),
      make(
        "div",
        { class: "preview-root" },
        make("h1", {}, hello.title),
        make("div", { class: "preview-meeting-info" }, name, passcode),
        again && make("div", { id: "error-for-pwd", class: "preview-meeting-info__field-error" }, "Passcode wrong"),
        toggle("preview-audio-control-button", "Mute", "Unmute", "microphone"),
        toggle("preview-video-control-button", "Stop Video", "Start Video", "camera"),
        variant.entry === "captcha" && captcha(),
        join,
      ),
    );
  }

  /** @returns {Promise<void>} */
  function mediaPrompt() {
    return new Promise((resolve) => {
      const choose = () => resolve();
      fill(
        find("#screen"),
        make("h1", {}, "Do you want people to see you in the meeting?"),
        make("button", { class: "zm-btn", click: choose }, "Use microphone and camera"),
        make("button", { class: "zm-btn continue", click: choose }, "Continue without microphone and camera"),
      );
    });
  }

  /** What an administrator wants everybody to accept: no modal of the client's own. @param {string} button @returns {Promise<void>} */
  function disclaimer(button) {
    return new Promise((resolve) => {
      const accept = () => {
        practice.link.tell({ do: "note", note: button, about: "disclaimer" });
        resolve();
      };
      fill(find("#screen"), make("h1", {}, "Rules of this organization"), make("button", { click: accept }, button));
    });
  }

  /** @param {string} id @param {string} placeholder @param {string} type */
  function field(id, placeholder, type) {
    return /** @type {HTMLInputElement} */ (make("input", { id, placeholder, type, maxlength: 64 }));
  }

  /** @param {string} id @param {string} on @param {string} off @param {string} device */
  function toggle(id, on, off, device) {
    const button = make("button", { id, "aria-label": on });
    button.addEventListener("click", () => {
      const isOn = button.getAttribute("aria-label") === on;
      button.setAttribute("aria-label", isOn ? off : on);
      practice.link.tell({ do: "facts", facts: { [device]: !isOn } });
    });
    return button;
  }

  function captcha() {
    return make(
      "div",
      { class: "component_smart_captcha" },
      make("img", { class: "captcha_code_img", alt: "", width: 160, height: 60 }),
      make("input", { class: "captcha_code_input", placeholder: "Type the characters you see" }),
    );
  }

  /** @param {PracticeWaiting} kind @param {PracticeHello} hello */
  function wait(kind, hello) {
    const leave = () => {
      practice.link.tell({ do: "leave" });
      end("left");
    };
    fill(
      find("#screen"),
      make(
        "div",
        { class: "waiting-room-container" },
        make("div", { class: "wr-information" }, make("div", { class: "wr-topic" }, hello.title)),
        make("div", { class: "wr-tip wr-title" }, practice.words.say(practice.words.WAITING[kind])),
        make("button", { class: "leave-btn", click: leave }, "Leave"),
      ),
    );
  }

  /** A screen after which nothing comes. @param {string} kind */
  async function end(kind) {
    const { text, title, modal, button } = practice.words.ENDS[kind];
    practice.media.close();
    practice.camera.stop();
    practice.modals.reconnecting(false);
    document.title = title || document.title;
    if (kind === "left") practice.link.close();
    if (!modal) {
      const back = new URLSearchParams({ backto: location.href });
      const signIn = () => location.assign(`https://zoom.us/signin?${back}`);
      const gate = kind === "sign_in" && make("button", { class: "login-btn-zoom", click: signIn }, "Sign In to Join");
      fill(find("#screen"), make("div", { id: "prompt" }, practice.words.say(text), gate));
      return;
    }
    if (kind !== "removed" && kind !== "over") fill(find("#screen"));
    await practice.modals.ask(text, "", button || "OK");
    location.assign("/wc?ref_from=practice");
  }

  practice.prejoin = { show, wait, end };
})();
