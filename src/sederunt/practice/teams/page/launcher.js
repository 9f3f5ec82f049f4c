// The launcher: would open the desktop app, and offers to go on in this browser.
"use strict";

(() => {
  const { make, fill, find } = /** @type {TeamsPractice} */ (window.practice);
  const wrapped = new URLSearchParams(location.search).get("url");
  const link = wrapped ? wrapped.replace(/^\/_#/, "") : location.pathname + location.search;

  function goOn() {
    location.assign(`/v2/?meetingjoin=true#${link}${link.includes("?") ? "&" : "?"}anon=true`);
  }

  fill(
    find("#screen"),
    make("h1", {}, "How do you want to join your Teams meeting?"),
    make("button", {}, "Open your Teams app"),
    make(
      "button",
      { "data-tid": "joinOnWeb", "aria-label": "Join meeting from this browser", click: goOn },
      "Continue on this browser",
    ),
  );
})();
