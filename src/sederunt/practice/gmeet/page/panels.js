// The side panels of the call: people and chat.
"use strict";

(() => {
  /** @type {MeetPractice} */
  const practice = window.practice;
  const { make, fill, find } = practice;
  /** @type {PracticePerson[]} */
  let roster = [];
  /** @type {PracticeMessage[]} */
  const messages = [];
  let open = "";
  /** @type {Record<string, any>} */
  let hello = {};

  /** @param {Record<string, any>} facts */
  function prepare(facts) {
    hello = facts;
  }

  function panel() {
    return make("aside", { "aria-label": "Side panel", hidden: true });
  }

  /** @param {PracticePanel} name */
  function toggle(name) {
    open = open === name ? "" : name;
    show();
  }

  function show() {
    const side = document.querySelector("aside");
    if (!side) return;
    side.toggleAttribute("hidden", !open);
    if (open === "people") fill(side, make("h2", {}, "People"), people());
    if (open === "chat") fill(side, make("h2", {}, "In-call messages"), chat(), hello.variant.chat && composer());
    for (const [name, label] of [["people", "Show everyone"], ["chat", "Chat with everyone"]]) {
      for (const button of document.querySelectorAll(`button[aria-label="${label}"]`)) {
        button.setAttribute("aria-pressed", String(open === name));
      }
    }
  }

  function people() {
    const rows = roster.flatMap((person) => [row(person), person.sharing && row({ ...person, key: `${person.key}/share` }, true)]);
    return make("div", { role: "list", "aria-label": "Participants" }, ...rows);
  }

  /** @param {PracticePerson} person @param {boolean} [presents] */
  function row(person, presents = false) {
    return make(
      "div",
      { role: "listitem", "aria-label": person.name, "data-participant-id": person.key },
      make("img", { alt: "", src: person.avatar || "/practice/gmeet/avatar.svg" }),
      make("span", { class: "zWGUib" }, person.name),
      person.self && make("span", {}, "(You)"),
      person.host && make("div", {}, "Meeting host"),
      presents && make("div", {}, "Presentation"),
      make("button", { "aria-label": person.muted ? `${person.name}'s microphone is off` : `Mute ${person.name}'s microphone` }),
      make("button", { "aria-label": "More actions" }),
    );
  }

  function chat() {
    return make("div", { "aria-live": "polite", jsname: "xySENc" }, ...messages.map(message));
  }

  /** @param {PracticeMessage} entry */
  function message(entry) {
    const id = `spaces/${hello.space}/messages/${entry.id}`;
    return make(
      "div",
      { class: entry.own ? "aops0b chmVPb" : "aops0b" },
      make("div", { class: "HNucUd" }, make("div", { class: "poVWob" }, entry.own ? "You" : entry.sender)),
      make(
        "div",
        { class: "RLrADb", "data-message-id": id },
        make("div", { class: "jO4O1", jsname: "dTKtvb" }, entry.text),
        make("button", { "aria-label": "Pin message", "data-message-id": id }, make("i", {}, "keep")),
      ),
    );
  }

  function composer() {
    const editable = hello.variant.chat_editable;
    const field = editable
      ? make("div", { contenteditable: "true", role: "textbox", "aria-label": "Send a message" })
      : make("textarea", { "aria-label": "Send a message", placeholder: "Send a message", maxlength: 500 });
    const send = practice.link.takeChat(field);
    return make(
      "div",
      {},
      field,
      make("button", { "aria-label": "Send a message", jsname: "SoqoBf", click: send }, make("i", {}, "send")),
    );
  }

  /** @param {PracticePerson[]} rows */
  function takeRoster(rows) {
    roster = rows;
    if (open === "people") show();
  }

  /** @param {PracticeMessage} entry */
  function takeMessage(entry) {
    messages.push(entry);
    const list = document.querySelector('[jsname="xySENc"]');
    if (open === "chat" && list) list.append(message(entry));
  }

  practice.panels = { prepare, panel, toggle, takeRoster, takeMessage };
})();
