// The side panes of the call: people and chat.
"use strict";

(() => {
  /** @type {TeamsPractice} */
  const practice = window.practice;
  const { make, fill } = practice;
  /** @type {PracticePerson[]} */
  let roster = [];
  /** @type {PracticeMessage[]} */
  const messages = [];
  let open = "";
  let mayChat = true;
  let addresses = false;

  /** @param {PracticeHello} hello */
  function pane(hello) {
    mayChat = hello.variant.chat;
    addresses = hello.variant.quirks.addresses;
    return make("aside", { hidden: true });
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
    if (open === "people") fill(side, people());
    if (open === "chat") fill(side, chat(), mayChat && composer());
  }

  function people() {
    const rows = roster.map((person) =>
      make(
        "div",
        {
          role: "treeitem",
          "data-cid": "roster-participant",
          "data-tid": `participantsInCall-${addresses ? `person${person.csrc}@contoso.com` : person.name}`,
          "aria-label": `${person.name}${addresses ? " Unverified" : ""}${person.host ? ", Organizer" : ""}${person.muted ? ", Muted" : ", Unmuted"}`,
        },
        make("span", { title: addresses ? `person${person.csrc}@contoso.com` : person.name }, person.name),
        person.muted && make("span", { "data-cid": "roster-participant-muted" }),
      ),
    );
    return make("div", { role: "tree", "aria-label": "Attendees" }, ...rows);
  }

  function chat() {
    return make("div", { "data-tid": "message-pane-list-runway", role: "log" }, ...messages.map(message));
  }

  /** @param {PracticeMessage} entry */
  function message(entry) {
    return make(
      "div",
      { "data-tid": "chat-pane-item" },
      make("span", { "data-tid": "message-author-name" }, addresses ? `${entry.sender} External` : entry.sender),
      make("time", { datetime: new Date(entry.at_ms).toISOString() }),
      make(
        "div",
        { "data-tid": "chat-pane-message", "data-mid": entry.id },
        make("div", { id: `content-${entry.id}`, "data-tid": "messageBodyContent" }, entry.text),
      ),
    );
  }

  function composer() {
    const field = make("div", { contenteditable: "true", role: "textbox", "aria-label": "Type a message" });
    const send = practice.link.takeChat(field);
    const button = make("button", { "data-tid": "newMessageCommands-send", name: "send", "aria-label": "Send", click: send });
    return make("div", { "data-tid": "ckeditor" }, field, button);
  }

  /** @param {PracticePerson[]} rows */
  function takeRoster(rows) {
    roster = rows;
    if (open === "people") show();
  }

  /** @param {PracticeMessage} entry */
  function takeMessage(entry) {
    messages.push(entry);
    const list = document.querySelector('[data-tid="message-pane-list-runway"]');
    if (open === "chat" && list) list.append(message(entry));
  }

  practice.panels = { pane, toggle, takeRoster, takeMessage };
})();
