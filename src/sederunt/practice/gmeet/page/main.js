// Listens to the server and shows the screen it asks for.
"use strict";

(() => {
  /** @type {MeetPractice} */
  const practice = window.practice;
  const { link, prejoin, call, notices, words } = practice;
  /** @type {Record<string, any>} */
  let hello = {};

  /** Screens may come late. @param {() => void} act */
  function slowly(act) {
    if (hello.variant && hello.variant.slow_s > 0) setTimeout(act, 1000 * hello.variant.slow_s);
    else act();
  }

  /** @param {string} screen @param {Record<string, any>} message */
  function show(screen, message) {
    if (screen === "prejoin") prejoin.show(hello);
    else if (screen === "call") call.show(hello);
    else if (screen === "captcha") prejoin.captcha();
    else if (screen in words.LOBBY) prejoin.lobby(/** @type {PracticeWaiting} */ (screen));
    else prejoin.end(screen, message.redirect_s);
  }

  link.on("hello", (/** @type {Record<string, any>} */ facts) => {
    hello = facts;
    words.useCurly(facts.variant.curly);
    practice.reword(facts.variant.words);
  });
  link.on("show", (/** @type {string} */ screen, /** @type {any} */ message) => slowly(() => show(screen, message)));
  link.on("roster", call.takeRoster);
  link.on("chat", practice.panels.takeMessage);
  link.on("notice", notices.notice);
  link.on("network", (/** @type {string} */ state) =>
    notices.banner(state === "lost" ? "You lost your network connection. Reconnecting" : ""),
  );
  link.open("gmeet", location.pathname.slice(1));
})();
