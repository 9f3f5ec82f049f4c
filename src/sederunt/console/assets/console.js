// What every page has: times in the reader's zone, copying, dialogs, the menu, and what the page before had to say.

import './forms.js';
import { ask, say, sentenceOf } from './api.js';

const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' });
const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });
const clocks = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });

/** @param {ParentNode} within */
function showTimes(within) {
  for (const element of within.querySelectorAll('time[datetime]:not([data-shown])')) {
    const at = new Date(element.getAttribute('datetime') ?? '');
    if (Number.isNaN(at.getTime())) continue;
    const how = element.getAttribute('data-as');
    element.textContent = how === 'clock' ? clocks.format(at) : how === 'day' ? days.format(at) : moments.format(at);
    element.setAttribute('title', at.toString());
    element.setAttribute('data-shown', '');
  }
}

document.addEventListener('click', (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const copy = target?.closest('[data-copy]');
  if (copy) {
    void navigator.clipboard.writeText(copy.getAttribute('data-copy') ?? '').then(() => say('Copied.'));
    return;
  }
  const opener = target?.closest('[data-opens]');
  if (opener) {
    const dialog = document.getElementById(opener.getAttribute('data-opens') ?? '');
    if (dialog instanceof HTMLDialogElement) dialog.showModal();
    return;
  }
  if (target?.closest('[data-closes]')) target.closest('dialog')?.close();
  const menu = target?.closest('.menu');
  if (menu) {
    const open = document.querySelector('.side')?.classList.toggle('open') ?? false;
    menu.setAttribute('aria-expanded', String(open));
  }
  const practice = target?.closest('[data-practice]');
  if (practice instanceof HTMLButtonElement) void sendPractice(practice);
});

/** @param {HTMLButtonElement} button */
async function sendPractice(button) {
  const place = document.querySelector('[data-practice-says]');
  button.disabled = true;
  if (place) place.textContent = 'Opening a meeting with three people…';
  try {
    const made = await ask('POST', 'page:/practice');
    window.location.assign(made.address);
  } catch (error) {
    if (place) place.textContent = sentenceOf(error);
    button.disabled = false;
  }
}

// A key or a link is shown once: where it was made, until the page is left.
document.addEventListener('api:done', (event) => {
  const form = event.target;
  const shown = form instanceof HTMLElement ? form.dataset.shows : undefined;
  if (!shown || !(event instanceof CustomEvent)) return;
  const value = String(event.detail[shown] ?? '');
  const place = document.querySelector('[data-shown-once]');
  if (!(place instanceof HTMLElement)) return;
  place.classList.remove('hidden');
  const code = place.querySelector('code');
  if (code) code.textContent = value;
  place.querySelector('[data-copy]')?.setAttribute('data-copy', value);
  place.scrollIntoView({ block: 'center' });
  place.focus();
});

// A part of a page that is not answered stays as it was. What asks by itself asks again; a person is told.
for (const kind of ['htmx:response:error', 'htmx:error']) {
  document.addEventListener(kind, (event) => {
    const ctx = event instanceof CustomEvent ? event.detail.ctx : undefined;
    if (!ctx || ctx.sourceElement.getAttribute('hx-trigger')?.startsWith('every')) return;
    const status = ctx.response?.status;
    say(`${status ? `The service answered ${status}` : 'The service cannot be reached right now'}: what is shown is from before.`);
  });
}

// The timetable is made by the server, which has no other way to know where its reader is.
document.cookie = `zone=${Intl.DateTimeFormat().resolvedOptions().timeZone}; path=/; max-age=31536000; samesite=lax`;

const said = sessionStorage.getItem('say');
if (said) {
  sessionStorage.removeItem('say');
  say(said);
}
showTimes(document);
new MutationObserver((changes) => {
  for (const change of changes) for (const node of change.addedNodes) if (node instanceof Element) showTimes(node.parentElement ?? document);
}).observe(document.body, { childList: true, subtree: true });
