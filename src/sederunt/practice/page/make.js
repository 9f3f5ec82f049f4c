// Builds elements without innerHTML, so that pages stay usable under Trusted Types.
"use strict";

(() => {
  /** @typedef {Node | string | null | undefined | false} Child */

  /** @type {Record<string, string>} */
  let instead = {};

  /** What is shown in place of a text of the site, with the apostrophe it would have had. @param {string} text */
  function reworded(text) {
    const other = instead[text.replaceAll("’", "'")];
    if (other === undefined) return text;
    return text.includes("’") ? other.replaceAll("'", "’") : other;
  }

  /** From now on these texts and labels are shown differently. @param {Record<string, string>} table */
  function reword(table) {
    instead = table;
  }

  /**
   * An element with attributes (functions become listeners, false and null are left out) and children.
   * @param {string} tag
   * @param {Record<string, unknown>} [attributes]
   * @param {...Child} children
   * @returns {HTMLElement}
   */
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") {
        element.addEventListener(name, /** @type {EventListener} */ (value));
      } else if (value !== false && value !== null && value !== undefined) {
        element.setAttribute(name, value === true ? "" : reworded(String(value)));
      }
    }
    element.append(...children.filter(isNode).map((child) => (typeof child === "string" ? reworded(child) : child)));
    return element;
  }

  /** @param {Child} child @returns {child is Node | string} */
  function isNode(child) {
    return child !== null && child !== undefined && child !== false;
  }

  /**
   * The only children that `parent` has from now on.
   * @param {Element} parent
   * @param {...Child} children
   */
  function fill(parent, ...children) {
    parent.replaceChildren(...children.filter(isNode));
  }

  /** @param {string} selector @returns {HTMLElement} */
  function find(selector) {
    const element = document.querySelector(selector);
    if (!(element instanceof HTMLElement)) throw new Error(`${selector} is not on this page`);
    return element;
  }

  /**
   * Tiles of those who have one. Of a large meeting a few, and one that counts the others.
   * @param {PracticePerson[]} people
   * @param {Record<string, any>} quirks
   * @param {(person: PracticePerson) => Child} tile
   */
  function tiles(people, quirks, tile) {
    const shown = people.filter((person) => !person.hidden);
    const most = quirks.tiles || shown.length;
    const rest = people.length - Math.min(most, shown.length);
    return [...shown.slice(0, most).map(tile), rest > 0 && make("div", { class: "tile" }, `and ${rest} others`)];
  }

  /** @type {any} */
  let policy;

  /** The address of a script of ours, in the form that Trusted Types demand. @param {string} address @returns {string} */
  function trusted(address) {
    const types = /** @type {any} */ (window).trustedTypes;
    if (!types) return address;
    policy = policy || types.createPolicy("practice", { createScriptURL: (/** @type {string} */ url) => url });
    return policy.createScriptURL(address);
  }

  Object.assign((window.practice = window.practice || {}), { make, fill, find, tiles, trusted, reword });
})();
