// Finds the meeting in the address, listens to the server and shows the screen it asks for.
"use strict";

(async () => {
  /** @type {TeamsPractice} */
  const practice = window.practice;
  const { link, prejoin, call, notices, words, make } = practice;
  /** @type {Record<string, any>} */
  let hello = {};

  /** The digits of `#/meet/<code>`, `#/l/meetup-join/19:meeting_<code>@…` or the light link's `coords`. */
  function code() {
    const coords = new URLSearchParams(location.search).get("coords");
    const text = coords ? decodeURIComponent(atob(coords)) : decodeURIComponent(decodeURIComponent(location.hash));
    const found = /(?:meet\/|meeting_|"meetingCode":")(\d{9,16})/.exec(text);
    return found ? found[1] : "";
  }

  /** @param {string} screen @param {Record<string, any>} message */
  function show(screen, message) {
    document.querySelector("#loading-screen")?.remove();
    if (screen === "prejoin" || screen === "nobody_answered") prejoin.show(hello);
    else if (screen === "call") call.show(hello);
    else if (screen === "captcha") return;
    else if (screen in words.LOBBY) prejoin.lobby(/** @type {PracticeWaiting} */ (screen), message.name);
    else prejoin.end(screen);
  }

  link.on("hello", (/** @type {Record<string, any>} */ facts) => {
    hello = facts;
    words.useCurly(facts.variant.curly);
    practice.reword(facts.variant.words);
    if (facts.bot) call.openTrouter(facts);
  });
  link.on("show", (/** @type {string} */ screen, /** @type {any} */ message) => {
    const wait = hello.variant.slow_s * 1000;
    if (wait > 0) setTimeout(() => show(screen, message), wait);
    else show(screen, message);
  });
  link.on("roster", call.takeRoster);
  link.on("chat", practice.panels.takeMessage);
  link.on("notice", notices.notice);
  link.on("network", (/** @type {string} */ state) => notices.banner(state === "lost" ? "Connection lost. Reconnecting" : ""));

  // The real client puts its own console in place of the browser's.
  window.console = { ...window.console, log: () => undefined, warn: () => undefined, error: () => undefined };

  const { frame } = await (await fetch(`/practice/framed?code=${code()}`)).json();
  if (frame && window.top === window) {
    document.body.replaceChildren(make("iframe", { class: "client", src: `/v2/?frame=1${location.hash}` }));
    return;
  }
  link.open("teams", code());
})();
