// As much of a document as the scripts that read rows ask for: elements made by hand, and selectors without combinators
// but for ":not(X *)".

/** @param {string} tag @param {Record<string, string>} [attributes] @param {(Element | string)[]} children */
export const make = (tag, attributes = {}, ...children) => new MadeElement(tag, attributes, children);

/** What the scripts ask of the realm besides. */
export const globals = { getComputedStyle: () => ({ whiteSpace: "normal" }) };

class MadeElement {
  constructor(tag, attributes, children) {
    this.nodeType = 1;
    this.nodeName = tag.toUpperCase();
    this.attributes = attributes;
    this.childNodes = [];
    this.add(...children);
  }

  add(...children) {
    for (const child of children) {
      const node = typeof child === "string" ? { nodeType: 3, nodeName: "#text", nodeValue: child, textContent: child } : child;
      node.parentElement = this;
      this.childNodes.push(node);
    }
  }

  remove(child) {
    this.childNodes = this.childNodes.filter((node) => node !== child);
  }

  get textContent() {
    return this.childNodes.map((node) => node.textContent).join("");
  }

  getAttribute(name) {
    return this.attributes[name] ?? null;
  }

  matches(selector) {
    return parts(selector, ",").some((one) => fits(this, one.trim()));
  }

  closest(selector) {
    for (let one = this; one; one = one.parentElement) if (one.matches(selector)) return one;
    return null;
  }

  querySelectorAll(selector) {
    const inside = this.childNodes.filter((node) => node.nodeType === 1);
    return inside.flatMap((one) => [...(one.matches(selector) ? [one] : []), ...one.querySelectorAll(selector)]);
  }

  querySelector(selector) {
    return this.querySelectorAll(selector)[0] ?? null;
  }
}

const SIMPLE = /^(?:(\w+)|\.([\w-]+)|#([\w-]+)|\[([\w-]+)(?:([*^]?)="([^"]*)")?\]|\[([\w-]+)(?:([*^]?)='([^']*)')?\])/;

/** @param {MadeElement} element @param {string} compound */
function fits(element, compound) {
  for (let rest = compound; rest; ) {
    if (rest.startsWith(":not(")) {
      const end = parts(rest.slice(5), ")")[0].length;
      if (parts(rest.slice(5, 5 + end), ",").some((one) => stands(element, one.trim()))) return false;
      rest = rest.slice(6 + end);
      continue;
    }
    const found = SIMPLE.exec(rest);
    if (!found) throw new Error(`dom.mjs knows no selector like ${rest}`);
    const [all, tag, kind, id] = found;
    const [name, how, value] = found[4] ? found.slice(4, 7) : found.slice(7, 10);
    if (tag && tag.toUpperCase() !== element.nodeName) return false;
    if (kind && !(element.getAttribute("class") || "").split(" ").includes(kind)) return false;
    if (id && element.getAttribute("id") !== id) return false;
    if (name && !says(element.getAttribute(name), how, value)) return false;
    rest = rest.slice(all.length);
  }
  return true;
}

/** Whether an element is this, or, behind " *", stands in one. @param {MadeElement} element @param {string} selector */
const stands = (element, selector) =>
  selector.endsWith(" *") ? Boolean(element.parentElement?.closest(selector.slice(0, -2))) : element.matches(selector);

/** @param {string | null} attribute @param {string} how @param {string | undefined} value */
function says(attribute, how, value) {
  if (attribute === null || value === undefined) return attribute !== null;
  return how === "^" ? attribute.startsWith(value) : how === "*" ? attribute.includes(value) : attribute === value;
}

/** Split at a character outside of brackets and quotes. @param {string} text @param {string} at */
function parts(text, at) {
  const found = [""];
  let depth = 0;
  let quote = "";
  for (const letter of text) {
    if (letter === at && !depth && !quote) {
      found.push("");
      continue;
    }
    if (quote) quote = letter === quote ? "" : quote;
    else if (letter === '"' || letter === "'") quote = letter;
    else if ("([".includes(letter)) depth += 1;
    else if (")]".includes(letter)) depth -= 1;
    found[found.length - 1] += letter;
  }
  return found;
}
