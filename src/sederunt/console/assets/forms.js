// Forms that speak to the API: `<form data-api="POST /key">`. Fields become JSON, refusals stand at their fields.
//
// A field's `data-type` says what it becomes: integer, flag, lines, words, moment. Empty fields are left out. Names with
// dots become nested objects. `data-then` says what follows: reload, stay, the answer's own address, or a path
// with {id} of what was made.

import { ask, Refused, say, sentenceOf } from './api.js';

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */

/** @param {HTMLFormElement} form @returns {Field[]} */
function fieldsOf(form) {
  return /** @type {Field[]} */ ([...form.elements].filter((field) => 'name' in field && field.name && !('disabled' in field && field.disabled)));
}

/**
 * What a form says, as the API wants it.
 * @param {HTMLFormElement} form @returns {Record<string, unknown>}
 */
export function valuesOf(form) {
  /** @type {Record<string, any>} */
  const values = {};
  for (const field of fieldsOf(form)) {
    const value = valueOf(field);
    if (field.dataset.type === 'member') values[field.name] ??= []; // none chosen is not the same as nothing said
    if (value === undefined) continue;
    const path = field.name.split('.');
    const last = /** @type {string} */ (path.pop());
    let place = values;
    for (const part of path) place = place[part] ??= {};
    if (field.dataset.type === 'member') (place[last] ??= []).push(value);
    else place[last] = value;
  }
  return values;
}

/** @param {Field} field @returns {unknown} */
function valueOf(field) {
  if (field instanceof HTMLInputElement && field.type === 'checkbox') {
    if (field.dataset.type === 'member') return field.checked ? field.value : undefined;
    return field.checked ? true : undefined;
  }
  const text = field.value.trim();
  if (!text) return undefined;
  switch (field.dataset.type) {
    case 'integer':
      return /^-?\d+$/.test(text) ? Number(text) : text;
    case 'lines':
      return text.split('\n').map((line) => line.trim()).filter(Boolean);
    case 'moment':
      return Math.floor(new Date(text).getTime() / 1000);
    default:
      return text;
  }
}

/**
 * What was begun and cannot be read: a date without its hour, say. A browser gives such a field no value, as if it were
 * empty; the API would take it for left out.
 * @param {HTMLFormElement} form @returns {Record<string, string[]>}
 */
export function unreadable(form) {
  const begun = fieldsOf(form).filter((field) => field.validity.badInput);
  return Object.fromEntries(begun.map(({ name }) => [name, [`${name} is filled in by half, or cannot be read: complete it, or empty it.`]]));
}

/**
 * Show what is wrong at the fields; returns what belongs to none of them.
 * @param {HTMLFormElement} form @param {Record<string, string[]>} faults @param {Set<string>} [only]
 * @returns {string[]}
 */
export function showFaults(form, faults, only) {
  const known = new Set();
  for (const field of fieldsOf(form)) {
    const name = field.name;
    known.add(name);
    const told = only && !only.has(name) ? [] : (faults[name] ?? []);
    field.setAttribute('aria-invalid', String(told.length > 0));
    const place = form.querySelector(`[data-fault="${CSS.escape(name)}"]`);
    if (place) place.textContent = told.map((sentence) => spoken(sentence, name, form)).join(' ');
  }
  return Object.entries(faults).filter(([name]) => !known.has(name)).flatMap(([, sentences]) => sentences);
}

/** The API names its fields; people read labels. @param {string} sentence @param {string} name @param {HTMLFormElement} form */
function spoken(sentence, name, form) {
  const label = form.querySelector(`[for="${CSS.escape(form.querySelector(`[name="${CSS.escape(name)}"]`)?.id ?? '')}"]`);
  const word = label?.firstChild?.textContent?.trim();
  return word && sentence.startsWith(`${name} `) ? word + sentence.slice(name.length) : sentence;
}

/** @param {HTMLFormElement} form */
async function send(form) {
  const [method = 'POST', path = ''] = (form.dataset.api ?? '').split(' ');
  const button = /** @type {HTMLButtonElement | null} */ (form.querySelector('button[type="submit"], button:not([type])'));
  const general = form.querySelector('[data-fault=""]');
  if (general) general.textContent = '';
  showFaults(form, {});
  if (button) button.disabled = true;
  try {
    const begun = unreadable(form);
    if (Object.keys(begun).length) throw new Refused(0, '', begun);
    const body = form.dataset.body === 'none' ? undefined : valuesOf(form);
    const answer = await ask(method, path, body);
    follow(form, answer);
  } catch (error) {
    const rest = error instanceof Refused ? showFaults(form, error.faults) : [];
    const general_ = error instanceof Refused && Object.keys(error.faults).length ? rest.join(' ') : sentenceOf(error);
    if (general) general.textContent = general_;
    else if (general_) say(general_);
    /** @type {HTMLElement | null} */ (form.querySelector('[aria-invalid="true"]'))?.focus();
  } finally {
    if (button) button.disabled = false;
  }
}

/** @param {HTMLFormElement} form @param {any} answer */
function follow(form, answer) {
  form.dispatchEvent(new CustomEvent('api:done', { bubbles: true, detail: answer }));
  const then = form.dataset.then ?? 'reload';
  if (then === 'stay') {
    if (form.dataset.tells) say(String(answer[form.dataset.tells] ?? ''));
    form.closest('dialog')?.close();
    return;
  }
  const sentence = answer.verdict === 'unreachable' ? form.dataset.sayUnreachable : form.dataset.say;
  if (sentence) sessionStorage.setItem('say', sentence);
  if (then === 'reload') window.location.reload();
  else if (then === 'address') window.location.assign(String(answer.address));
  else window.location.assign(then.replace('{id}', encodeURIComponent(answer.id ?? '')));
}

// The API's sentences say more than the browser's own.
for (const form of document.querySelectorAll('form[data-api]')) form.setAttribute('novalidate', '');

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form instanceof HTMLFormElement && form.dataset.api) {
    event.preventDefault();
    const question = form.dataset.confirm;
    if (!question || window.confirm(question)) void send(form);
  }
});
