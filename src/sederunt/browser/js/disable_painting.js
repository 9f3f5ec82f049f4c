// Nothing moves and no picture is painted: worth 2 to 5 % of a core, more than any flag. Animations still end, at once,
// because pages wait for their events; nothing changes its place, size or visibility, because journeys look at those.
"use strict";

(() => {
  const RULES = `
    *, *::before, *::after {
      animation-duration: 1ms !important; animation-delay: 0s !important; animation-iteration-count: 1 !important;
      transition-duration: 1ms !important; transition-delay: 0s !important; scroll-behavior: auto !important;
    }
    video, canvas { opacity: 0 !important; }`;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(RULES);

  /** Pages assign this list anew; ours is then put back. */
  function apply() {
    capture.quietly(() => {
      if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet);
    });
  }

  apply();
  for (const name of ["DOMContentLoaded", "load"]) capture.natives.listen.call(window, name, apply);
})();
