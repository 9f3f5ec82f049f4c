// Watches the page's roster, speaking marks and chat, where the watch plan says what they look like. One observer for
// all; nothing is read before the page has been still for a moment, and nothing is said that was said already.
"use strict";

(() => {
  const { natives, readings, shadowRoots, quietly } = capture;
  const plan = config.watch;
  const SPEAKING_MS = 100;
  const LISTS_MS = 300;
  const MOST_REMEMBERED = 2000;

  /** @type {any[]} */
  const counters = (plan.banner && plan.banner.counts) || [];
  let lastPeople = "";
  let lastSpeakers = "[]";
  let lastStage = "";
  /** @type {Map<string, string>} */
  const lastObjects = new Map();
  let lastBanner = natives.stringify({ alone: false, recorded: false, count: null });
  /** @type {Set<string>} */
  const told = new Set();

  function readRoster() {
    const roots = shadowRoots.standing();
    const people = readings.people(roots, plan.roster);
    // Tiles show some, the panel shows all.
    const whole = !plan.roster.whole || roots.some((root) => root.querySelector(plan.roster.whole) !== null);
    const key = natives.stringify({ people, whole });
    // That nobody is shown any more is told, too: what was shown before is as old as that.
    if ((people.length || lastPeople) && key !== lastPeople) capture.tell("roster", { people, whole });
    lastPeople = key;
  }

  function readSpeaking() {
    const keys = readings.speakers(shadowRoots.standing(), plan.speaking);
    const key = natives.stringify(keys);
    if (key !== lastSpeakers) capture.tell("speaking", { keys });
    lastSpeakers = key;
  }

  function readStage() {
    const key = readings.onStage(shadowRoots.standing(), plan.stage);
    if (key !== lastStage) capture.tell("stage", { key });
    lastStage = key;
  }

  function readBanner() {
    const said = readings.sentences(shadowRoots.standing(), plan.banner);
    const key = natives.stringify(said);
    if (key !== lastBanner) capture.tell("banner", said);
    lastBanner = key;
  }

  /** By what key the page's own objects know the bot, and by what ids its call. */
  function readObjects() {
    readPaths(plan.own, (key) => capture.tell("self", { key }));
    readPaths(plan.call, (id) => capture.tell("call", { id }));
  }

  /** @param {string[] | undefined} paths @param {(text: string) => void} tell */
  function readPaths(paths, tell) {
    for (const path of paths || []) {
      /** @type {any} */
      let found = window;
      for (const part of path.split(".")) found = found === undefined || found === null ? undefined : found[part];
      if (typeof found !== "string" || !found || found === lastObjects.get(path)) continue;
      lastObjects.set(path, found);
      tell(found);
    }
  }

  function readChat() {
    for (const { mark, ...message } of readings.messages(shadowRoots.standing(), plan.chat)) {
      if (told.has(mark)) continue;
      told.add(mark);
      if (told.size > MOST_REMEMBERED) told.delete(/** @type {string} */ (told.values().next().value));
      capture.tell("chat", message);
    }
  }

  /** Run `read` once, a moment after the first of many calls. @param {() => void} read @param {number} afterMs */
  function gathered(read, afterMs) {
    let timer = 0;
    return () => {
      if (timer) return;
      timer = natives.setTimeout(() => {
        timer = 0;
        quietly(read);
      }, afterMs);
    };
  }

  const onLists = gathered(() => {
    if (plan.roster) quietly(readRoster);
    if (plan.chat) quietly(readChat);
    if (plan.banner) quietly(readBanner);
    if (plan.own || plan.call) quietly(readObjects);
  }, LISTS_MS);
  const onSpeaking = gathered(() => {
    readSpeaking();
    if (plan.stage) readStage();
  }, SPEAKING_MS);

  /** Attributes that can mean something: watching all of them would wake us for each moving pixel. */
  function attributes() {
    const speaking = plan.speaking || {};
    const names = new Set(Object.keys(speaking.attributes || {}));
    if ((speaking.classes || []).length) names.add("class");
    const idName = plan.roster && plan.roster.id;
    if (typeof idName === "string") names.add(idName);
    for (const way of counters) if (way.attribute) names.add(way.attribute);
    return [...names];
  }

  /** @param {MutationRecord[]} changes */
  function changed(changes) {
    const structure = changes.some((change) => change.type !== "attributes");
    const meant = (/** @type {MutationRecord} */ { attributeName }) =>
      (plan.roster && attributeName === plan.roster.id) || counters.some((way) => way.attribute === attributeName);
    if (structure || changes.some(meant)) onLists();
    if (plan.speaking) onSpeaking();
  }

  function start() {
    const attributeFilter = attributes();
    const observer = new natives.MutationObserver((changes) => quietly(() => changed(changes)));
    const wanted = {
      childList: true,
      subtree: true,
      characterData: Boolean(plan.roster || plan.chat || plan.banner),
      ...(attributeFilter.length ? { attributes: true, attributeFilter } : {}),
    };
    observer.observe(document, wanted);
    shadowRoots.each((root) => observer.observe(root, wanted));
    onLists();
    if (plan.speaking) onSpeaking();
  }

  if (plan.roster || plan.chat || plan.speaking) start();
})();
