// The side panels of the call, participants and chat: each takes the other's place, or both stand one above the other.
"use strict";

(() => {
  /** @type {ZoomPractice} */
  const practice = window.practice;
  const { make, fill } = practice;
  /** @type {PracticePerson[]} */
  let roster = [];
  /** @type {PracticeMessage[]} */
  const messages = [];
  /** @type {Set<"people" | "chat">} */
  let open = new Set();
  let oneOnly = true;
  let mayChat = true;

  /** @param {PracticeHello} hello */
  function panel(hello) {
    mayChat = hello.variant.chat;
    oneOnly = hello.variant.panels !== "beside";
    return make("aside", { hidden: true });
  }

  /** @param {PracticePanel} name */
  function toggle(name) {
    const wasOpen = open.has(name);
    if (oneOnly) open = new Set();
    if (wasOpen) open.delete(name);
    else open.add(name);
    /** @type {Array<["people" | "chat", string]>} */
    const labels = [["chat", "the chat panel"], ["people", "the participants list pane"]];
    for (const [which, label] of labels) {
      const verb = open.has(which) ? "close" : "open";
      for (const button of document.querySelectorAll(`button[aria-label$="${label}"]`)) {
        button.setAttribute("aria-label", `${verb} ${label}`);
      }
    }
    show();
  }

  function show() {
    const side = document.querySelector("aside");
    if (!side) return;
    side.toggleAttribute("hidden", !open.size);
    const talk = open.has("chat") && (mayChat ? composer() : make("div", {}, "Chat disabled"));
    fill(side, open.has("people") && people(), open.has("chat") && chat(), talk);
  }

  function people() {
    const rows = roster.map((person, number) =>
      make(
        "div",
        {
          class: "participants-li",
          role: "application",
          id: `participants-list-${number}`,
          "aria-label": `${person.name},${person.self ? "(me) " : ""}${person.muted ? "computer audio muted" : "computer audio unmuted"}`,
        },
        make("span", { class: "participants-item__display-name" }, person.name),
        make("span", { class: "participants-item__name-label" }, person.host ? "(Host)" : person.self ? "(me)" : ""),
      ),
    );
    return make("div", { id: "participants-ul", role: "list", "aria-label": `participants list, ${roster.length} total` }, ...rows);
  }

  function chat() {
    return make("div", { role: "application", "aria-label": "Chat Message List" }, ...messages.map(message));
  }

  /** @param {PracticeMessage} entry */
  function message(entry) {
    const sender = entry.own ? "You" : entry.sender;
    const time = new Date(entry.at_ms).toLocaleTimeString("en-US", { hour: "numeric", minute: "2-digit" });
    return make(
      "div",
      { id: `chat-message-${entry.id}`, class: "new-chat-message__container", "aria-label": `${sender} to Everyone, ${time}, ${entry.text}` },
      make("span", { class: "chat-item__sender" }, sender),
      make("div", { class: "new-chat-message__text-box" }, make("div", { class: "chat-rtf-box__display" }, entry.text)),
    );
  }

  function composer() {
    const field = make("div", { contenteditable: "true", class: "tiptap ProseMirror", role: "textbox", "aria-label": "Type message here ..." });
    const send = practice.link.takeChat(field);
    const button = make("button", { class: "chat-rtf-box__send", "aria-label": "send", click: send }, "Send");
    return make("div", { class: "chat-rtf-box__editor-outer" }, field, button);
  }

  /** @param {PracticePerson[]} rows */
  function takeRoster(rows) {
    roster = rows;
    const list = document.querySelector("#participants-ul");
    if (open.has("people") && list) list.replaceWith(people());
  }

  /** @param {PracticeMessage} entry */
  function takeMessage(entry) {
    messages.push(entry);
    const list = document.querySelector('[aria-label="Chat Message List"]');
    if (open.has("chat") && list) list.append(message(entry));
  }

  practice.panels = { panel, toggle, takeRoster, takeMessage };
})();
