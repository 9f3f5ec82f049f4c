// What goes wrong with pages, on command of the control API.
"use strict";

(() => {
  const practice = (window.practice = window.practice || {});

  /** The main thread never answers again. */
  function freeze() {
    for (;;);
  }

  /** The renderer dies at once: an array longer than the engine can make is fatal to it, not an exception. */
  function crash() {
    "a".repeat(2 ** 28).split("");
  }

  practice.link.on("command", (/** @type {string} */ name) => {
    if (name === "freeze") setTimeout(freeze);
    if (name === "crash") setTimeout(crash);
    if (name === "reload") location.reload();
  });
})();
