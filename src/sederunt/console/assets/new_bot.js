// A new bot, judged while it is written: the API says what is wrong, at the fields that were touched so far.

import { ask, Refused } from './api.js';
import { showFaults, valuesOf } from './forms.js';

const WAIT_MS = 350;
const SERVICES = [
  { service: 'gmeet', host: /(^|\.)meet\.google\.com$/ },
  { service: 'teams', host: /(^|\.)teams\.(microsoft|live)\.com$/ },
  { service: 'zoom', host: /(^|\.)zoom\.(us|com)$/ },
];

const form = /** @type {HTMLFormElement} */ (document.querySelector('form[data-api="POST /bot"]'));
const verdict = /** @type {HTMLElement} */ (document.querySelector('[data-verdict]'));
const touched = new Set();
/** @type {number | undefined} */
let timer;
/** @type {AbortController | undefined} */
let asking;

/** Which service an address belongs to, so that nobody has to say it twice. */
function guessService() {
  const link = /** @type {HTMLInputElement} */ (form.elements.namedItem('meeting_url'));
  const choice = /** @type {HTMLSelectElement} */ (form.elements.namedItem('service'));
  try {
    const host = new URL(link.value.trim()).hostname;
    const found = SERVICES.find((row) => row.host.test(host));
    if (found) choice.value = found.service;
  } catch {
    // not an address yet
  }
}

async function judge() {
  asking?.abort();
  asking = new AbortController();
  try {
    await ask('POST', '/bot/validate', valuesOf(form), asking.signal);
    showFaults(form, {});
    verdict.textContent = 'Ready to go.';
  } catch (error) {
    if (!(error instanceof Refused)) return;
    const rest = showFaults(form, error.faults, touched);
    const open = Object.keys(error.faults).filter((name) => !touched.has(name)).length;
    verdict.textContent = rest.join(' ') || (open ? `${open} ${open === 1 ? 'field is' : 'fields are'} still to be filled in.` : '');
  }
}

form.addEventListener('input', (event) => {
  const field = event.target;
  if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement || field instanceof HTMLTextAreaElement) {
    touched.add(field.name);
    if (field.name === 'meeting_url') {
      guessService();
      touched.add('service');
    }
    window.clearTimeout(timer);
    timer = window.setTimeout(() => void judge(), WAIT_MS);
  }
});
