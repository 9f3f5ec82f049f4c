// Modals and banners.
"use strict";

(() => {
  /** @type {TeamsPractice} */
  const practice = window.practice;
  const { make, find } = practice;

  /**
   * A modal; resolves with the label of the button that was pressed.
   * @param {string} text @param {string[]} buttons
   * @returns {Promise<string>}
   */
  function ask(text, buttons) {
    return new Promise((resolve) => {
      /** @param {string} label */
      const choose = (label) => {
        dialog.remove();
        practice.link.tell({ do: "note", note: label, about: text });
        resolve(label);
      };
      const made = buttons.map((label) => make("button", { "aria-label": label, click: () => choose(label) }, label));
      const dialog = make("div", { role: "dialog", "aria-modal": "true" }, make("h2", {}, practice.words.say(text)), ...made);
      find("#notices").append(dialog);
    });
  }

  function askForDevices() {
    return ask("Are you sure you don't want audio or video?", ["Continue without audio or video"]);
  }

  /** @param {string} name one of the notices in the table of words */
  function notice(name) {
    return ask(practice.words.NOTICES[name] || name, ["Close"]);
  }

  /** @param {string} text empty: no banner */
  function banner(text) {
    for (const old of document.querySelectorAll(".banner")) old.remove();
    if (text) find("#notices").append(make("div", { class: "banner", role: "alert" }, text));
  }

  practice.notices = { ask, askForDevices, notice, banner };
})();
