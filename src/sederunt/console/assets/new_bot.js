// A new bot, judged while it is written: the API says what is wrong, at the fields that were touched so far.

import { ask, Refused } from './api.js';
import { showFaults, unreadable, valuesOf } from './forms.js';

const WAIT_MS = 350;

const form = /** @type {HTMLFormElement} */ (document.querySelector('form[data-api="POST /bot"]'));
const verdict = /** @type {HTMLElement} */ (document.querySelector('[data-verdict]'));
const touched = new Set();
/** @type {number | undefined} */
let timer;
/** @type {AbortController | undefined} */
let asking;

/** Choose the service to whose site an address leads, so that nobody has to say it twice. */
function guessService() {
  const link = /** @type {HTMLInputElement} */ (form.elements.namedItem('meeting_url'));
  const choice = /** @type {HTMLSelectElement} */ (form.elements.namedItem('service'));
  try {
    const host = new URL(link.value.trim()).hostname;
    const leadsTo = (/** @type {string} */ site) => `.${host}`.endsWith(`.${site}`);
    const found = [...choice.options].find((option) => option.dataset.hosts?.split(' ').some(leadsTo));
    if (found) choice.value = found.value;
  } catch {
    // not an address yet
  }
}

async function judge() {
  asking?.abort();
  asking = new AbortController();
  const begun = unreadable(form);
  for (const name of Object.keys(begun)) touched.add(name);
  try {
    await ask('POST', '/bot/validate', valuesOf(form), asking.signal);
    tell(begun, Object.keys(begun).length ? '' : 'Ready to go.');
  } catch (error) {
    if (error instanceof Refused) tell({ ...error.faults, ...begun }, '');
  }
}

/** @param {Record<string, string[]>} faults @param {string} otherwise what is said where no field is at fault */
function tell(faults, otherwise) {
  const rest = showFaults(form, faults, touched);
  const open = Object.keys(faults).filter((name) => !touched.has(name)).length;
  verdict.textContent = rest.join(' ') || (open ? `${open} ${open === 1 ? 'field is' : 'fields are'} still to be filled in.` : otherwise);
}

function judgeSoon() {
  window.clearTimeout(timer);
  timer = window.setTimeout(() => void judge(), WAIT_MS);
}

form.addEventListener('input', (event) => {
  const field = event.target;
  if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement) {
    touched.add(field.name);
    if (field.name === 'meeting_url') {
      guessService();
      touched.add('service');
    }
    judgeSoon();
  }
});

// A date that is begun has no value, before and after: no input event tells of it.
form.addEventListener('focusout', (event) => {
  const field = event.target;
  if (field instanceof HTMLInputElement && (field.validity.badInput || field.ariaInvalid === 'true')) judgeSoon();
});
