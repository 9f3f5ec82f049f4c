// @ts-check
/**
 * Presses one control without the pointer: for those that something else lies over. Shadow roots included.
 * @param {string} handle a selector that only this element matches
 */
(handle) => {
  /** @type {(Document | ShadowRoot)[]} */
  const roots = [document];
  for (let at = 0; at < roots.length && roots.length < 200; at += 1) {
    const element = roots[at].querySelector(handle);
    if (element instanceof HTMLElement) {
      element.click();
      return true;
    }
    for (const host of roots[at].querySelectorAll("*")) if (host.shadowRoot) roots.push(host.shadowRoot);
  }
  return false;
}
