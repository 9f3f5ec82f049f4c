// What goes wrong with pages, on command of the control API.
"use strict";

(() => {
  const practice = (window.practice = window.practice || {});

  /** The main thread never answers again. */
  function freeze() {
    for (;;);
  }

  /** The renderer runs out of memory and dies. */
  function exhaust() {
    const kept = [];
    for (;;) kept.push(new Array(1 << 24).fill(kept.length));
  }

  practice.link.on("command", (/** @type {string} */ name) => {
    if (name === "freeze") setTimeout(freeze);
    if (name === "crash") setTimeout(exhaust);
    if (name === "reload") location.reload();
  });
})();
