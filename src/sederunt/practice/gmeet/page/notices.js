// Dialogs and banners over whatever screen is shown.
"use strict";

(() => {
  /** @type {MeetPractice} */
  const practice = window.practice;
  const { make, find } = practice;

  /**
   * A modal dialog; resolves with the label of the button that was pressed.
   * @param {string} text
   * @param {string[]} buttons
   * @param {Record<string, string>} [extra] attributes of the last button
   * @returns {Promise<string>}
   */
  function ask(text, buttons, extra = {}) {
    return new Promise((resolve) => {
      /** @param {string} label */
      const choose = (label) => {
        dialog.remove();
        practice.link.tell({ do: "note", note: label, about: text });
        resolve(label);
      };
      const made = buttons.map((label, number) =>
        make("button", { click: () => choose(label), ...(number === buttons.length - 1 ? extra : {}) }, make("span", {}, label)),
      );
      const dialog = make("div", { role: "dialog", "aria-modal": "true" }, make("h2", {}, text), ...made);
      find("#notices").append(dialog);
    });
  }

  /** @param {string} name one of the notices in the table of words */
  function notice(name) {
    const { text, button } = practice.words.NOTICES[name];
    return ask(practice.words.say(text), name === "alone" ? ["Leave now", button] : [button], { "data-mdc-dialog-action": "ok" });
  }

  /** @param {string} text empty: no banner */
  function banner(text) {
    for (const old of document.querySelectorAll(".banner")) old.remove();
    if (text) find("#notices").append(make("div", { class: "banner", role: "alert" }, practice.words.say(text)));
  }

  /** A box that stays, with nothing to press. @param {string} text */
  function stand(text) {
    find("#notices").append(make("div", { role: "dialog", class: "standing" }, practice.words.say(text)));
  }

  practice.notices = { ask, notice, stand, banner };
})();
