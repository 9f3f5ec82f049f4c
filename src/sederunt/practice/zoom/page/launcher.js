// The launch page: the desktop app first; the link to this browser comes after the button was pressed.
"use strict";

(() => {
  const { make, fill, find } = /** @type {ZoomPractice} */ (window.practice);
  const code = location.pathname.split("/").pop();
  const link = make("a", { href: `https://app.zoom.us/wc/${code}/join${location.search}`, hidden: true }, "Join from your browser");
  const launch = make("div", { role: "button", tabindex: 0, click: () => link.removeAttribute("hidden") }, "Launch Meeting");
  fill(find("#screen"), make("h1", {}, "Click Launch Meeting below"), launch, link);
})();
