// The rows of a chat as the watch plans of the sites read them, and what of it is told: PLANS holds the plans as JSON.
import assert from "node:assert/strict";
import { test } from "node:test";
import { globals, make } from "./dom.mjs";
import { load, plain } from "./load.mjs";

const PLANS = JSON.parse(process.env.PLANS);

/** A chat that is watched by a site's plan: `read` reads it now, and returns what was told of it since the last time. */
function chat(site) {
  const root = make("div");
  const told = [];
  const due = [];
  let changed = () => {};
  class MutationObserver {
    constructor(act) {
      changed = () => act([{ type: "childList" }]);
    }
    observe() {}
  }
  load(["readings.js", "observers.js"], {
    ...globals,
    document: {},
    config: { watch: { chat: PLANS[site].chat } },
    capture: {
      natives: { MutationObserver, stringify: JSON.stringify, setTimeout: (act) => due.push(act) },
      shadowRoots: { standing: () => [root], each() {} },
      quietly: (act) => act(),
      tell: (kind, data) => told.push({ kind, ...plain(data) }),
    },
  });
  function read() {
    changed();
    for (const act of due.splice(0)) act();
    return told.splice(0);
  }
  return { root, read };
}

const said = (sender, text, id = "") => ({ kind: "chat", id, sender, text });

const body = (id, ...children) => make("div", { "data-tid": "messageBodyContent", ...(id ? { id } : {}) }, ...children);

/** A row of Teams. @param {string} author @param {string} at @param {any[]} bodies */
const teamsRow = (author, at, ...bodies) =>
  make(
    "div",
    { "data-tid": "chat-pane-item" },
    make(
      "div",
      { "data-tid": "chat-pane-message" },
      make("span", { "data-tid": "message-author-name" }, author),
      " ",
      make("time", { datetime: at }, at.slice(11, 16)),
      " ",
      ...bodies,
    ),
  );

test("a message whose body has no text yet is told once it has", () => {
  const { root, read } = chat("teams");
  const empty = body("content-1");
  root.add(teamsRow("Bob", "2026-11-27T10:44:00Z", empty));
  assert.deepEqual(read(), []);
  empty.add(make("p", {}, "Good morning"));
  assert.deepEqual(read(), [said("Bob", "Good morning", "content-1")]);
  assert.deepEqual(read(), []);
});

test("a message whose body does not stand there yet is told once it does", () => {
  const { root, read } = chat("teams");
  const row = teamsRow("Bob", "2026-11-27T10:44:00Z");
  root.add(row);
  assert.deepEqual(read(), []);
  row.childNodes[0].add(body("content-1", "Good morning"));
  assert.deepEqual(read(), [said("Bob", "Good morning", "content-1")]);
});

test("the same words by the same person are two messages, by their times where rows have no id", () => {
  const { root, read } = chat("teams");
  const rows = ["10:45", "10:50"].map((at) => teamsRow("Cleo", `2026-11-27T${at}:00Z`, body("", "ok")));
  root.add(rows[0]);
  assert.deepEqual(read(), [said("Cleo", "ok")]);
  root.remove(rows[0]); // a list that shows a part of itself
  root.add(rows[1]);
  assert.deepEqual(read(), [said("Cleo", "ok")]);
  root.add(rows[0]);
  assert.deepEqual(read(), []);
});

test("rows without id and time are told as often as they stand there at once", () => {
  const { root, read } = chat("zoom");
  const row = (text) =>
    make(
      "div",
      { class: "new-chat-message__container" },
      make("span", { class: "chat-item__sender" }, "Cleo"),
      make("div", { class: "chat-rtf-box__display" }, text),
    );
  const rows = [row("ok"), row("ok")];
  root.add(rows[0]);
  assert.deepEqual(read(), [said("Cleo", "ok")]);
  root.add(row("so"), rows[1]);
  assert.deepEqual(read(), [said("Cleo", "so"), said("Cleo", "ok")]);
  root.remove(rows[0]);
  assert.deepEqual(read(), []);
  root.add(rows[0]);
  assert.deepEqual(read(), [], "the list showed it before");
  root.add(row("ok"));
  assert.deepEqual(read(), [said("Cleo", "ok")]);
});

test("rows with an id are told once, however often the id stands there", () => {
  const { root, read } = chat("teams");
  const row = () => teamsRow("Cleo", "2026-11-27T10:45:00Z", body("content-1", "ok"));
  root.add(row(), row());
  assert.deepEqual(read(), [said("Cleo", "ok", "content-1")]);
});

test("a message without an author and a body of its own is all of its text", () => {
  const { root, read } = chat("teams");
  root.add(make("div", { "data-tid": "chat-pane-message", "data-mid": "7" }, "Good morning"));
  assert.deepEqual(read(), [said("", "Good morning", "7")]);
});

test("a picture in a message is what stands for it: one emoji is a message", () => {
  const { root, read } = chat("teams");
  root.add(
    teamsRow("Ada", "2026-11-27T10:42:00Z", body("content-1", make("p", {}, make("img", { alt: "🎉" })))),
    teamsRow("Ada", "2026-11-27T10:43:00Z", body("content-2", make("p", {}, "Great ", make("img", { alt: "👍" }), " work"))),
    teamsRow("Ada", "2026-11-27T10:44:00Z", body("content-3", "So ", make("img"), "so")),
  );
  assert.deepEqual(read(), [
    said("Ada", "🎉", "content-1"),
    said("Ada", "Great 👍 work", "content-2"),
    said("Ada", "So so", "content-3"),
  ]);
});
