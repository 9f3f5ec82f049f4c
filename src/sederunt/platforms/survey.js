// @ts-check
/**
 * Looks over one document: which rows of evidence are there, and where the asked-for targets are.
 * Pure reading, but for one attribute that marks a found target. Knows no selector and no text of any site.
 *
 * @typedef {{id: string, kind: string, patterns: string[], within: string[], whole: boolean, showing: string,
 *   leastPx: [number, number]}} Row
 * @typedef {{id: string, selectors: string[], names: string[], butNot: string[], backstops: string[],
 *   within: string[], holding: string[], lacking: string[], showing: string, disabledToo: boolean}} Target
 * @typedef {{rows: Row[], targets: Target[], never: string[], icons: string[], buttons: string, mark: string,
 *   tally: {selectors: string[], phrase: string} | null}} Plan
 * @param {string} json a Plan: one string is handed over at a tenth of the cost of its parts
 */
(json) => {
  if (!document.documentElement || !document.body) return null;
  const SKIPPED = new Set(["SCRIPT", "STYLE", "TEMPLATE", "NOSCRIPT", "TEXTAREA", "SELECT", "SVG", "svg", "IFRAME"]);
  const INLINE = new Set(["A", "ABBR", "B", "BDI", "CODE", "EM", "FONT", "I", "LABEL", "MARK", "S", "SMALL", "SPAN",
    "STRONG", "SUB", "SUP", "TIME", "U", "BR", "WBR"]);
  // What speaks to people may do so by its label alone.
  const SPEAKING = "h1,h2,h3,dialog," + ["dialog", "alertdialog", "alert", "status", "heading"].map((role) => `[role=${role}]`).join(",");
  // Letters of what is told: a page writes them, and all bots of a host share the way to it. No chat takes 8000.
  const LONGEST = { url: 4000, title: 1000, value: 8000 };
  const HEADINGS = "h1,h2,h3,[role=heading]";
  /** @type {Plan} */
  const plan = JSON.parse(json);
  const never = plan.never.join(",");
  const icons = plan.icons.join(",");

  /** @param {string | null | undefined} text */
  const normalised = (text) => (text || "")
    .replace(/[‘’]/g, "'").replace(/[“”]/g, '"').replace(/…/g, "...")
    .replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, "").replace(/\s+/g, " ").trim().toLowerCase();

  /** Shadow roots included: some layouts keep their controls there. @type {(Document | ShadowRoot)[]} */
  const roots = [document];
  for (let at = 0; at < roots.length && roots.length < 200; at += 1) {
    for (const element of roots[at].querySelectorAll("*")) if (element.shadowRoot) roots.push(element.shadowRoot);
  }
  /** @param {string} selector @returns {Element[]} */
  const all = (selector) => {
    try { return roots.flatMap((root) => [...root.querySelectorAll(selector)]); } catch { return []; }
  };
  /** @param {Element} element @returns {Element | null} */
  const parentOf = (element) => {
    if (element.parentElement) return element.parentElement;
    const root = element.getRootNode();
    return root instanceof ShadowRoot ? root.host : null;
  };
  /** @param {Element} element @param {string} selector @returns {Element | null} */
  const closest = (element, selector) => {
    for (let at = /** @type {Element | null} */ (element); at; at = parentOf(at)) if (at.matches(selector)) return at;
    return null;
  };

  // A capturing page may paint nothing at all: then boxes say nothing, and each element's own style is asked.
  const painted = document.documentElement.getClientRects().length > 0 && document.body.getClientRects().length > 0;
  const rootStyle = getComputedStyle(document.documentElement);
  const rootSeen = rootStyle.visibility === "visible" && rootStyle.opacity !== "0";
  /** @param {Element} element */
  const laidOut = (element) => {
    if (painted) return element.getClientRects().length > 0;
    for (let at = /** @type {Element | null} */ (element); at && at !== document.body; at = parentOf(at)) {
      if (getComputedStyle(at).display === "none") return false;
    }
    return true;
  };
  /** @param {Element} element */
  const visible = (element) => {
    if (!laidOut(element)) return false;
    if (painted) {
      const box = element.getBoundingClientRect();
      if (box.width * box.height <= 16) return false;  // clipped for screen readers only
    }
    if (!rootSeen) return true;
    if (getComputedStyle(element).visibility !== "visible") return false;
    for (let at = /** @type {Element | null} */ (element); at; at = parentOf(at)) {
      if (getComputedStyle(at).opacity === "0") return false;
    }
    return true;
  };
  /** @param {Element} element @param {string} showing */
  const shows = (element, showing) =>
    showing === "present" || (showing === "laid_out" ? laidOut(element) : visible(element));

  /** Elements with names of their own flow as their style says. @param {Element} element */
  const isInline = (element) => INLINE.has(element.tagName)
    || (element.tagName.includes("-") && getComputedStyle(element).display.startsWith("inline"));
  /** All text, parts that match one of the selectors left out. @param {Element} element @param {string[]} without */
  const textIn = (element, without) => {
    /** @type {string[]} */
    const parts = [];
    /** @param {Node} node */
    const gather = (node) => {
      for (const child of node.childNodes) {
        if (child.nodeType === Node.TEXT_NODE) parts.push(child.nodeValue || "");
        else if (child instanceof Element && !SKIPPED.has(child.tagName)
          && !without.some((selector) => selector && child.matches(selector))) gather(child);
      }
    };
    gather(element);
    return parts.join(" ");
  };

  /** The interface's text, line by line, chat and names left out. @type {{text: string, element: Element}[]} */
  const lines = [];
  /** @param {Node} node @param {{text: string, element: Element} | null} open */
  const read = (node, open) => {
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) {
        const text = child.nodeValue || "";
        if (!text.trim()) continue;
        const host = node instanceof ShadowRoot ? node.host : /** @type {Element} */ (node);
        if (!open) lines.push(open = { text: "", element: host });
        open.text += ` ${text}`;
      } else if (child instanceof Element && !SKIPPED.has(child.tagName)) {
        if ((never && child.matches(never)) || (icons && child.matches(icons))) continue;
        const said = child.matches(SPEAKING) && child.getAttribute("aria-label");
        if (said) lines.push({ text: said, element: child });
        if (child.shadowRoot) read(child.shadowRoot, null);
        // A heading is one sentence, over however many blocks it is laid.
        if (child.childElementCount && child.matches(HEADINGS)) lines.push({ text: textIn(child, [never, icons]), element: child });
        if (isInline(child)) open = read(child, open);
        else { read(child, null); open = null; }
      }
    }
    return open;
  };
  /** @param {Element} element */
  const label = (element) => normalised(textIn(element, [icons]));
  /** Many rows ask for the same buttons. @type {Map<Element, string[]>} */
  const called = new Map();
  /** Everything a button may be called. @param {Element} element @returns {string[]} */
  const names = (element) => {
    const known = called.get(element);
    if (known) return known;
    const given = [label(element), normalised(element.getAttribute("aria-label")), normalised(element.getAttribute("title"))];
    if (element instanceof HTMLInputElement) given.push(normalised(element.value));
    for (const span of element.querySelectorAll("span")) if (!span.children.length) given.push(normalised(span.textContent));
    const usable = given.filter((name) => name && name.length <= 80);
    called.set(element, usable);
    return usable;
  };
  /** @param {string} pattern @param {string} name */
  const fits = (pattern, name) => pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
  /** @param {Element} element @param {string[]} within */
  const inside = (element, within) => !within.length || closest(element, within.join(",")) !== null;
  /** @param {Element} element */
  const offLimits = (element) => Boolean(never) && closest(element, never) !== null;
  /** @param {Element} element */
  const disabled = (element) => element.matches(":disabled") || element.getAttribute("aria-disabled") === "true"
    || element.classList.contains("disabled");

  /** Whether the pointer would meet something else there. @param {Element} element */
  const covered = (element) => {
    const box = element.getBoundingClientRect();
    const root = /** @type {Document | ShadowRoot} */ (element.getRootNode());
    const met = root.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
    return met !== null && !element.contains(met) && !met.contains(element);
  };

  // A frame nobody sees tells nothing.
  const shown = window === window.top || (innerWidth > 1 && innerHeight > 1 && !(() => {
    try { return window.frameElement && !window.frameElement.getClientRects().length && painted; } catch { return false; }
  })());
  /** @type {Record<string, string[]>} */
  const matches = {};
  /** @type {{id: string, handle: string, label: string, value: string, disabled: boolean, covered: boolean,
   *   boxless: boolean}[]} */
  const found = [];
  const top = window === window.top;
  const navigation = /** @type {any} */ (performance.getEntriesByType("navigation")[0]);
  const facts = { top, url: location.href.slice(0, LONGEST.url), title: document.title.slice(0, LONGEST.title),
    status: (navigation && navigation.responseStatus) || 0, matches, found, tally: 0 };
  if (!shown) return facts;

  read(document.body, null);
  for (const line of lines) line.text = normalised(line.text.replace(/\s+/g, " "));
  /** @type {Element[] | null} */
  let known = null;
  const buttons = () => known || (known = all(plan.buttons).filter((element) => !offLimits(element)));

  /** @param {Row} row @param {string} pattern */
  const holds = (row, pattern) => {
    if (row.kind === "selector") {
      return all(pattern).some((element) => {
        if (!inside(element, row.within) || !shows(element, row.showing)) return false;
        if (!row.leastPx[0]) return true;
        const box = element.getBoundingClientRect();
        return box.width >= row.leastPx[0] && box.height >= row.leastPx[1];
      });
    }
    if (row.kind === "button") {
      return buttons().some((element) => inside(element, row.within) && names(element).some((name) => fits(pattern, name))
        && shows(element, row.showing));
    }
    if (row.kind === "stem") {
      const said = new RegExp(pattern, "u");
      return lines.some((line) => said.test(line.text) && inside(line.element, row.within) && shows(line.element, row.showing));
    }
    return lines.some((line) => (row.whole
      ? line.text.startsWith(pattern) && (line.text.length <= pattern.length + 24 || /^[.!]/.test(line.text.slice(pattern.length)))
      : line.text.includes(pattern)) && inside(line.element, row.within) && shows(line.element, row.showing));
  };
  for (const row of plan.rows) {
    const seen = row.patterns.filter((pattern) => holds(row, pattern));
    if (seen.length) matches[row.id] = seen;
  }

  /** @param {Target} target @param {Element} element */
  const acceptable = (target, element) => {
    if (!shows(element, target.showing) || (!target.disabledToo && disabled(element))) return false;
    if (target.within.length) {
      const box = closest(element, target.within.join(","));
      if (!box) return false;
      const text = target.holding.length || target.lacking.length ? label(box) : "";  // what scripts hold is no text
      if (target.holding.length && !target.holding.some((phrase) => text.includes(phrase))) return false;
      if (target.lacking.some((phrase) => text.includes(phrase))) return false;
    }
    const given = target.butNot.length ? names(element) : [];
    return !given.some((name) => target.butNot.some((pattern) => fits(pattern, name)));
  };
  /** @param {Target} target @returns {Element | undefined} */
  const locate = (target) => {
    for (const selector of target.selectors) {
      const element = all(selector).find((candidate) => acceptable(target, candidate));
      if (element) return element;
    }
    for (const pattern of target.names) {
      const element = buttons().find((candidate) => names(candidate).some((name) => fits(pattern, name))
        && acceptable(target, candidate));
      if (element) return element;
    }
    for (const selector of target.backstops) {
      const element = all(selector).find((candidate) => !offLimits(candidate) && acceptable(target, candidate));
      if (element) return element;
    }
    return undefined;
  };
  /** What a field holds; of a password only how long it is. @param {HTMLInputElement} field */
  const value = (field) => {
    const held = (typeof field.value === "string" ? field.value : label(field)).slice(0, LONGEST.value);
    return field.type === "password" ? "*".repeat(held.length) : held;
  };
  plan.targets.forEach((target, index) => {
    const element = locate(target);
    if (!element) return;
    const given = element.getAttribute(plan.mark) || "";
    const mark = /^[\da-z]{1,20}$/.test(given) ? given : `${index}${Math.random().toString(36).slice(2, 8)}`;
    element.setAttribute(plan.mark, mark);
    const field = /** @type {HTMLInputElement} */ (element);
    found.push({ id: target.id, handle: `[${plan.mark}="${mark}"]`, label: names(element)[0] || "",
      value: value(field), disabled: disabled(element),
      covered: covered(element), boxless: !element.getBoundingClientRect().width || !element.getBoundingClientRect().height });
  });
  if (plan.tally) {
    // The innermost holders only: a message counts once, however many boxes it lies in.
    const { selectors, phrase } = plan.tally;
    const holders = all(selectors.join(",")).filter((element) => normalised(element.textContent).includes(phrase));
    facts.tally = holders.filter((element) => !holders.some((other) => other !== element && element.contains(other))).length;
  }
  return facts;
}
