// Where lists of people may stand beside the document itself: some layouts keep theirs in shadow roots, which no
// selector reaches from outside. Each is noted when it is made; walking all elements at each reading would cost more.
"use strict";

(() => {
  const { replace, quietly } = capture;
  const MOST_ROOTS = 300;

  /** @type {Set<WeakRef<ShadowRoot>>} */
  const made = new Set();
  /** @type {(root: ShadowRoot) => void} */
  let onRoot = () => undefined;

  replace(Element.prototype, "attachShadow", (native, self, args) => {
    const root = Reflect.apply(native, self, args);
    quietly(() => {
      if (made.size >= MOST_ROOTS) forget();
      if (made.size >= MOST_ROOTS) return;
      made.add(new WeakRef(root));
      onRoot(root);
    });
    return root;
  });

  /** Let go of those that the page has dropped. */
  function forget() {
    for (const place of made) if (!place.deref()) made.delete(place);
  }

  /** The document and the roots that stand in it. @returns {(Document | ShadowRoot)[]} */
  function standing() {
    const roots = [...made].map((place) => place.deref()).filter((root) => root && root.host.isConnected);
    return [document, .../** @type {ShadowRoot[]} */ (roots)];
  }

  /** Call with each root to come: ours run before any script of the page can make one. @param {typeof onRoot} act */
  function each(act) {
    onRoot = act;
  }

  capture.shadowRoots = { standing, each };
})();
