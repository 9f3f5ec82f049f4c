// Finds the meeting in the address, listens to the server and shows the screen it asks for.
"use strict";

(async () => {
  /** @type {ZoomPractice} */
  const practice = window.practice;
  const { link, prejoin, call, modals, words, make } = practice;
  const code = (/\d{8,11}/.exec(location.pathname) || [""])[0];
  /** @type {Record<string, any>} */
  let hello = {};

  /** @param {string} screen */
  function show(screen) {
    if (screen === "prejoin") prejoin.show(hello);
    else if (screen === "wrong_passcode") prejoin.show(hello, true);
    else if (screen === "call") call.show(hello);
    else if (screen === "captcha") prejoin.show(hello);
    else if (screen in words.WAITING) prejoin.wait(/** @type {PracticeWaiting} */ (screen), hello);
    else prejoin.end(screen);
  }

  link.on("hello", (/** @type {Record<string, any>} */ facts) => {
    hello = facts;
    words.useCurly(facts.variant.curly);
    practice.reword(facts.variant.words);
    if (facts.bot) call.openControl(facts);
  });
  link.on("show", (/** @type {string} */ screen) => {
    const wait = hello.variant.slow_s * 1000;
    if (wait > 0) setTimeout(() => show(screen), wait);
    else show(screen);
  });
  link.on("roster", call.takeRoster);
  link.on("speaking", call.mark);
  link.on("chat", practice.panels.takeMessage);
  link.on("notice", modals.notice);
  link.on("network", (/** @type {string} */ state) => modals.reconnecting(state === "lost"));

  const { frame } = await (await fetch(`/practice/framed?code=${code}`)).json();
  if (frame && window.top === window) {
    const address = `/wc/${code}/client${location.search}`;
    document.body.replaceChildren(make("iframe", { id: "webclient", class: "pwa-webclient__iframe", src: address }));
    return;
  }
  link.open("zoom", code);
})();
