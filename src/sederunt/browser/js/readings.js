// Reads rows of a page by selectors from the watch plan, in all its roots. Pure: elements in, plain values out.
"use strict";

(() => {
  /**
   * @param {Element} row
   * @param {any} how a selector, or {closest, selector, unless, attribute, strip}, or a list of them: the first that
   *   gives text. `unless`: not where such an element stands in the row
   * @param {boolean} [lines] keep the breaks between lines
   */
  function textOf(row, how, lines = false) {
    if (how === undefined || how === null) return "";
    for (const way of Array.isArray(how) ? how : [how]) {
      const { closest, selector, unless, attribute, strip } = typeof way === "string" ? { selector: way } : way;
      if (unless && within(row, unless)) continue;
      const from = closest ? row.closest(closest) : row;
      const element = from && selector ? within(from, selector) : from;
      if (!element) continue;
      const found = attribute ? element.getAttribute(attribute) : lines ? linesOf(element) : element.textContent;
      const text = stripped(folded(found || "", lines), strip || []);
      if (text) return text;
    }
    return "";
  }

  /** One space for white space, but for breaks that are to be kept. @param {string} text @param {boolean} lines */
  const folded = (text, lines) =>
    (lines ? text.replace(/[^\S\n]+/g, " ").replace(/ ?\n ?/g, "\n") : text.replace(/\s+/g, " ")).trim();

  const BLOCKS = new Set(["P", "DIV", "LI", "BLOCKQUOTE", "PRE"]);
  /** An element's text with its breaks, whether it is laid out or not; of a picture what stands for it, as for an emoji.
   * @param {Node} node @returns {string} */
  function linesOf(node) {
    let text = "";
    for (const child of node.childNodes) {
      if (child.nodeType === 3) text += written(child);
      else if (child.nodeName === "BR") text += "\n";
      else if (child.nodeName === "IMG") text += /** @type {Element} */ (child).getAttribute("alt") || "";
      else if (BLOCKS.has(child.nodeName)) text += `${text && !text.endsWith("\n") ? "\n" : ""}${linesOf(child)}\n`;
      else text += linesOf(child);
    }
    return text;
  }

  /** A break in the source is a space, unless the style keeps it. @param {Node} node */
  function written(node) {
    const text = node.nodeValue || "";
    if (!text.includes("\n")) return text;
    const kept = node.parentElement && getComputedStyle(node.parentElement).whiteSpace.startsWith("pre");
    return kept ? text : text.replace(/\s+/g, " ");
  }

  /** @param {Element} row @param {string} selector */
  const within = (row, selector) => (row.matches(selector) ? row : row.querySelector(selector));

  /** Take away what the site appends to names. @param {string} text @param {string[]} ends */
  function stripped(text, ends) {
    let rest = text;
    for (let again = true; again; ) {
      again = false;
      for (const end of ends) {
        if (end && rest.endsWith(end)) {
          rest = rest.slice(0, -end.length).trim();
          again = true;
        }
      }
    }
    return rest;
  }

  /** @param {Element} row @param {any} id an attribute's name, or the ways of `textOf` */
  const keyOf = (row, id) => (typeof id === "string" ? row.getAttribute(id) || "" : textOf(row, id));

  /** @param {ParentNode[]} roots @param {any} plan */
  function people(roots, plan) {
    const found = new Map();
    for (const row of rowsOf(roots, plan.row)) {
      const name = textOf(row, plan.name);
      const key = keyOf(row, plan.id) || name;
      if (!key || found.has(key) || says(row, name, plan.nobody || [])) continue;
      const picture = plan.avatar ? within(row, plan.avatar) : null;
      const avatar = picture ? picture.getAttribute("src") : null;
      found.set(key, { key, name, avatar, is_self: Boolean(plan.self && within(row, plan.self)) });
    }
    return [...found.values()];
  }

  /** Whether an element of a row says one of these words, which are no name. @param {Element} row @param {string} name
   * @param {string[]} words */
  const says = (row, name, words) =>
    words.length > 0 &&
    [...row.getElementsByTagName("*")].some((one) => {
      const text = one.childElementCount ? "" : (one.textContent || "").trim();
      return words.includes(text) && text !== name;
    });

  /** @param {ParentNode[]} roots @param {any} plan */
  function speakers(roots, plan) {
    const keys = new Set();
    for (const row of rowsOf(roots, plan.row)) {
      const key = keyOf(row, plan.id);
      if (key && isMarked(row, plan)) keys.add(key);
    }
    return [...keys].sort();
  }

  /** @param {Element} row @param {any} plan */
  function isMarked(row, plan) {
    const where = plan.within ? [...row.querySelectorAll(plan.within), ...(row.matches(plan.within) ? [row] : [])] : [row];
    return where.some(
      (element) =>
        (plan.classes || []).some((/** @type {string} */ name) => element.classList.contains(name)) ||
        Object.entries(plan.attributes || {}).some(([name, value]) =>
          value === null ? element.hasAttribute(name) : element.getAttribute(name) === value,
        ),
    );
  }

  /** Who is shown large: one at a time. @param {ParentNode[]} roots @param {any} plan */
  function onStage(roots, plan) {
    for (const row of rowsOf(roots, plan.row)) {
      const key = keyOf(row, plan.id);
      if (key) return key;
    }
    return "";
  }

  /**
   * What is written. `mark` tells messages apart: where a row has no id, by who wrote what and when, and by how many
   * such rows stand up to there, for people write the same words twice.
   * @param {ParentNode[]} roots @param {any} plan
   */
  function messages(roots, plan) {
    /** @type {Map<string, number>} */
    const alike = new Map();
    return rowsOf(roots, plan.row).flatMap((row) => {
      const text = textOf(row, plan.text, true);
      if (!text) return [];
      const sender = textOf(row, plan.sender);
      const id = keyOf(row, plan.id);
      if (id) return [{ mark: id, id, sender, text }];
      const made = `${sender}\n${textOf(row, plan.time)}\n${text}`;
      const count = (alike.get(made) || 0) + 1;
      alike.set(made, count);
      return [{ mark: `${count}\n${made}`, id, sender, text }];
    });
  }

  /** What the page's own sentences say, where people write nothing. @param {ParentNode[]} roots @param {any} plan */
  function sentences(roots, plan) {
    const said = rowsOf(roots, plan.row)
      .filter((element) => !element.closest(plan.never) && !element.querySelector(plan.never))
      .filter((element) => element.getClientRects().length > 0)
      .map((element) => (element.textContent || "").replace(/’/g, "'").replace(/\s+/g, " ").trim().toLowerCase())
      .filter((text) => text && text.length <= plan.longest);
    const says = (/** @type {string[]} */ stems) => said.some((text) => stems.some((stem) => text.includes(stem)));
    return { alone: says(plan.alone), recorded: says(plan.recorded), count: counted(roots, plan.counts || []) };
  }

  /** How many people the page's own counter says are here; null where it shows none.
   * @param {ParentNode[]} roots @param {any[]} counters ways of `textOf` with a selector, the surest first */
  function counted(roots, counters) {
    for (const way of counters) {
      for (const element of rowsOf(roots, way.selector)) {
        const shown = way.attribute ? element.getAttribute(way.attribute) : element.textContent;
        const number = /\d+/.exec(shown || "");
        if (number && element.getClientRects().length > 0) return Number(number[0]);
      }
    }
    return null;
  }

  /** @param {ParentNode[]} roots @param {string | string[]} selectors @returns {Element[]} */
  function rowsOf(roots, selectors) {
    const selector = Array.isArray(selectors) ? selectors.join(",") : selectors;
    return roots.flatMap((root) => [...root.querySelectorAll(selector)]);
  }

  capture.readings = { people, speakers, onStage, messages, sentences };
})();
