// Modals, the cookie banner, and the reconnecting cover.
"use strict";

(() => {
  /** @type {ZoomPractice} */
  const practice = window.practice;
  const { make, find } = practice;

  /**
   * A modal; resolves when its button was pressed.
   * @param {string} text @param {string} more @param {string} button
   * @returns {Promise<void>}
   */
  function ask(text, more, button) {
    return new Promise((resolve) => {
      const close = () => {
        modal.remove();
        practice.link.tell({ do: "note", note: button, about: text });
        resolve();
      };
      const modal = make("div", { class: "zm-modal", role: "alertdialog" }, ...content(text, more, button, close));
      find("#notices").append(modal);
    });
  }

  /** @param {string} text @param {string} more @param {string} button @param {() => void} close */
  function content(text, more, button, close) {
    return [
      make("div", { class: "zm-modal-body-title" }, practice.words.say(text)),
      more && make("div", { class: "zm-modal-body-content" }, practice.words.say(more)),
      make("div", { class: "zm-modal-footer" }, make("button", { class: "zm-btn zm-btn--primary", click: close }, button)),
    ];
  }

  /** @param {string} name one of the notices in the table of words */
  function notice(name) {
    const { text, more } = practice.words.NOTICES[name] || practice.words.NOTICES.recording;
    return ask(text, more, "Got it");
  }

  /** The client keeps a hidden copy of the recording modal around, ready to be shown. */
  function keepTemplate() {
    const { text, more } = practice.words.NOTICES.recording;
    find("#notices").append(make("div", { class: "zm-modal template" }, ...content(text, more, "Got it", () => undefined)));
  }

  /** A line that stays, with nothing to press. @param {string} text */
  function stand(text) {
    find("#notices").append(make("div", { class: "rtms-disclaimer-info__text" }, practice.words.say(text)));
  }

  /** @returns {Promise<void>} */
  function cookies() {
    return new Promise((resolve) => {
      const close = () => {
        banner.remove();
        resolve();
      };
      const banner = make(
        "div",
        { id: "onetrust-banner-sdk", role: "region", "aria-label": "Cookie banner" },
        make("div", {}, "We use cookies"),
        make("button", { id: "onetrust-reject-all-handler", click: close }, "Reject All"),
        make("button", { id: "onetrust-accept-btn-handler", click: close }, "Accept Cookies"),
      );
      find("#notices").append(banner);
    });
  }

  /** @param {boolean} lost */
  function reconnecting(lost) {
    for (const old of document.querySelectorAll(".dialog-reconnect-container")) old.remove();
    if (lost) {
      const cover = make("div", { class: "dialog-reconnect-container" }, "Network error: 1/3 attempt to reconnect...");
      find("#notices").append(cover);
    }
  }

  practice.modals = { ask, notice, stand, keepTemplate, cookies, reconnecting };
})();
