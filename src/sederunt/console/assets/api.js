// Requests to the API in the name of who is signed in, and what their refusals say.

/** A refusal: one sentence, and those of each field. */
export class Refused extends Error {
  /** @param {number} status @param {string} message @param {Record<string, string[]>} faults */
  constructor(status, message, faults) {
    super(message);
    this.status = status;
    this.faults = faults;
  }
}

const csrf = document.querySelector('meta[name="csrf"]')?.getAttribute('content') ?? '';

/**
 * One request; `path` is below the API's prefix, unless it is a page's own (`page:/…`).
 * @param {string} method @param {string} path @param {unknown} [body] @param {AbortSignal} [signal]
 * @returns {Promise<any>}
 */
export async function ask(method, path, body, signal) {
  const address = path.startsWith('page:') ? path.slice(5) : `/api/v1${path}`;
  /** @type {Record<string, string>} */
  const headers = { 'X-CSRF-Token': csrf };
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  let answer;
  try {
    answer = await fetch(address, { method, headers, body: body === undefined ? null : JSON.stringify(body), signal: signal ?? null });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Refused(0, 'The service cannot be reached right now.', {});
  }
  const text = await answer.text();
  /** @type {any} */
  let told = {};
  let understood = true;
  try {
    if (text) told = JSON.parse(text);
  } catch {
    understood = false;
  }
  if (answer.status === 401) window.location.reload();
  if (answer.ok && !understood) throw new Refused(answer.status, 'The answer was not understood: load the page again, and look whether it was done.', {});
  if (!answer.ok) throw new Refused(answer.status, told.message ?? `The service answered ${answer.status}.`, told.errors ?? {});
  return told;
}

/** @returns {string} the session's token against forgery */
export function csrfToken() {
  return csrf;
}

/** Say something for a few seconds. @param {string} sentence */
export function say(sentence) {
  document.querySelector('.toast')?.remove();
  const toast = document.createElement('div');
  toast.className = 'toast';
  toast.setAttribute('role', 'status');
  toast.textContent = sentence;
  document.body.append(toast);
  window.setTimeout(() => toast.remove(), 5000);
}

/** @param {unknown} error @returns {string} */
export function sentenceOf(error) {
  return error instanceof Error ? error.message : String(error);
}
