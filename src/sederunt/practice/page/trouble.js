// What goes wrong with pages, on command of the control API.
"use strict";

(() => {
  /** @type {Practice} */
  const practice = window.practice;

  /** The main thread never answers again. It waits for the server instead of counting: that costs the others nothing. */
  function freeze() {
    for (;;) {
      try {
        const request = new XMLHttpRequest();
        request.open("GET", "/practice/held", false);
        request.send();
      } catch {
        // The server is gone; it is frozen all the same.
      }
    }
  }

  /**
   * The renderer dies at once, on a busy machine too: a working array longer than the engine can make is fatal to it,
   * not an exception, and this way to ask for one touches no memory before.
   */
  function crash() {
    [].sort.call({ length: 2 ** 28 });
  }

  practice.link.on("command", (/** @type {string} */ name) => {
    if (name === "freeze") setTimeout(freeze);
    if (name === "crash") setTimeout(crash);
    if (name === "reload") location.reload();
    if (name === "wander") location.href = "about:blank";
  });
})();
