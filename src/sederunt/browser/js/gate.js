// What Python may ask of a realm, in a world of our own: no page can reach what stands here, nor call it. The scripts that
// must work among the page's own are asked by a port, and nothing that they answer is trusted.
"use strict";

(() => {
  const { natives } = capture;
  const ANSWER_MS = 3000;
  const MOST_KEPT = 50;
  const MOST_ANSWER = 200_000; // characters

  const toPage = new MessageChannel();
  const toWorker = new MessageChannel();
  /** @type {Map<number, (given: any) => void>} */
  const questions = new Map();
  let nextQuestion = 0;

  toWorker.port1.postMessage({ address: `${config.address}/media?realm=${capture.realm}` });
  toPage.port1.onmessage = ({ data }) => {
    if (typeof data !== "object" || data === null) return;
    const answered = questions.get(data.answer);
    if (answered) answered(data.given);
    else if (typeof data.kind === "string") capture.quietly(() => capture.line(data.kind, data.data, data.payload, data.at_ms));
  };

  // Whichever of the two worlds comes first waits for the other.
  const offer = () =>
    dispatchEvent(new MessageEvent(config.name, { ports: [toPage.port2, toWorker.port2] }));
  addEventListener(`${config.name}?`, offer);
  offer();

  /**
   * Have a script among the page's own do something; null where none answers.
   * @param {string} ask @param {unknown} [argument] @returns {Promise<any>}
   */
  function askPage(ask, argument) {
    const number = (nextQuestion += 1);
    return new Promise((resolve) => {
      const timer = natives.setTimeout(() => settle(null), ANSWER_MS);
      const settle = (/** @type {any} */ given) => {
        natives.clearTimeout(timer);
        questions.delete(number);
        resolve(bounded(given));
      };
      questions.set(number, settle);
      toPage.port1.postMessage({ ask, argument, number });
    });
  }

  /** What the page's scripts answered, as plain JSON; null where it is none, or too long. @param {unknown} given */
  function bounded(given) {
    try {
      const text = natives.stringify(given);
      return text !== undefined && text.length <= MOST_ANSWER ? JSON.parse(text) : null;
    } catch {
      return null;
    }
  }

  /** An answer with the name of this realm; null where there is none. @param {string} ask */
  async function named(ask) {
    const given = await askPage(ask);
    return given && { ...given, realm: capture.realm };
  }

  /** @type {Map<string, () => unknown>} */
  const kept = new Map();

  /** Have a function ready that will be asked for again. @param {string} key @param {() => unknown} act */
  function keep(key, act) {
    kept.set(key, act);
    if (kept.size > MOST_KEPT) kept.delete(/** @type {string} */ (kept.keys().next().value));
  }

  /** What it gives now; null where it is not kept here. @param {string} key */
  function callKept(key) {
    const act = kept.get(key);
    return act ? { answer: act() } : null;
  }

  /** @type {any} */ (globalThis).gate = {
    useBackend: (/** @type {string} */ backend) => askPage("useBackend", backend),
    showPicture: (/** @type {string} */ avatar) => askPage("showPicture", avatar),
    showsPicture: () => askPage("showsPicture"),
    state: () => named("state"),
    flush: () => named("flush"),
    keep,
    callKept,
  };
})();
