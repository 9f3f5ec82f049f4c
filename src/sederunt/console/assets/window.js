// A browser on a host: its pictures come one by one as they are asked for, pointer and keys go there in order.

import { ask, Refused, sentenceOf } from './api.js';

/** @typedef {(string | number)[]} Input */

const root = /** @type {HTMLElement} */ (document.querySelector('[data-window]'));
const base = `/sign-in-window/${root.dataset.window}`;
const stage = /** @type {HTMLElement} */ (root.querySelector('[data-stage]'));
const picture = /** @type {HTMLImageElement} */ (root.querySelector('[data-picture]'));
const fault = /** @type {HTMLElement} */ (root.querySelector('[data-fault]'));
const keepButton = /** @type {HTMLButtonElement} */ (root.querySelector('[data-keep]'));

let over = false;
/** @type {number | null} */
let page = null; // whose picture is shown: what is done is meant for it

/** @param {string} sentence */
function tell(sentence) {
  fault.textContent = sentence;
  fault.classList.toggle('hidden', !sentence);
}

/** @param {string} sentence */
function end(sentence) {
  if (over) return;
  over = true;
  tell(sentence);
  stage.classList.add('over');
  for (const control of root.querySelectorAll('button, input')) control.setAttribute('disabled', '');
}

// --- what it shows ---

async function watch() {
  let known = 0;
  while (!over) {
    if (document.hidden) {
      await new Promise((done) => document.addEventListener('visibilitychange', done, { once: true }));
      continue;
    }
    try {
      const told = await ask('GET', `${base}/picture?after=${known}`);
      if (over) return;
      if (told.jpeg !== null) {
        known = told.number;
        await show(told.jpeg, told.address);
        if (page !== told.page) queue = []; // it was meant for the page before
        page = told.page;
      }
    } catch (error) {
      if (over) return;
      if (error instanceof Refused && error.status === 404) return end('This browser is closed. Open another one under Keys.');
      tell(sentenceOf(error));
      await new Promise((done) => window.setTimeout(done, 1000));
    }
  }
}

/** @param {string} jpeg in base64 @param {string} address with escapes, as some stand for no text */
async function show(jpeg, address) {
  const before = picture.src;
  const bytes = Uint8Array.from(atob(jpeg), (letter) => letter.charCodeAt(0));
  picture.src = URL.createObjectURL(new Blob([bytes], { type: 'image/jpeg' }));
  await picture.decode().catch(() => undefined);
  if (before) URL.revokeObjectURL(before);
  tell('');
  root.querySelector('[data-waiting]')?.remove();
  const place = root.querySelector('[data-address]');
  if (place) place.textContent = address;
}

// --- what is done ---

/** @type {Input[]} */
let queue = [];
let sending = false;

/** @param {Input} input */
function send(...input) {
  if (over) return;
  const last = queue[queue.length - 1];
  if (input[0] === 'move' && last?.[0] === 'move') queue[queue.length - 1] = input;
  else queue.push(input);
  if (!sending) void flush();
}

async function flush() {
  sending = true;
  while (queue.length && !over) {
    const inputs = queue.splice(0, 100);
    try {
      await ask('POST', `${base}/input`, { inputs, page });
    } catch (error) {
      if (error instanceof Refused && error.status === 404) end('This browser is closed. Open another one under Keys.');
      else tell(sentenceOf(error));
    }
  }
  sending = false;
}

/** @param {MouseEvent} event @returns {[number, number]} */
function point(event) {
  const box = picture.getBoundingClientRect();
  return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
}

stage.addEventListener('pointermove', (event) => send('move', ...point(event)));
stage.addEventListener('pointerdown', (event) => {
  event.preventDefault();
  stage.focus({ preventScroll: true });
  stage.setPointerCapture(event.pointerId);
  send('move', ...point(event));
  send('down', event.button, Math.max(event.detail, 1));
});
stage.addEventListener('pointerup', (event) => {
  send('move', ...point(event));
  send('up', event.button);
});
stage.addEventListener('contextmenu', (event) => event.preventDefault());
stage.addEventListener('wheel', (event) => {
  event.preventDefault();
  send('wheel', event.deltaX, event.deltaY);
}, { passive: false });

const held = new Set();
let escaped = 0;
stage.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') {
    if (event.timeStamp - escaped < 600) {
      keepButton.focus(); // whoever came in by keyboard gets out by it
      return;
    }
    escaped = event.timeStamp;
  }
  const pastes = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'v';
  if (pastes || event.isComposing || event.key === 'Dead' || event.key === 'Process') return;
  event.preventDefault();
  held.add(event.key);
  send('press', event.key);
});
stage.addEventListener('keyup', (event) => {
  if (held.delete(event.key)) send('release', event.key);
});
stage.addEventListener('blur', () => {
  for (const key of held) send('release', key);
  held.clear();
});
document.addEventListener('paste', (event) => {
  const text = document.activeElement === stage ? event.clipboardData?.getData('text') : '';
  if (text) send('type', text);
});

root.querySelector('[data-typing]')?.addEventListener('submit', (event) => {
  event.preventDefault();
  const field = /** @type {HTMLInputElement} */ (root.querySelector('[data-typed]'));
  if (field.value) send('type', field.value);
  field.value = '';
});
for (const button of root.querySelectorAll('[data-input]')) {
  button.addEventListener('click', () => send(button.getAttribute('data-input') ?? ''));
}
for (const button of root.querySelectorAll('[data-key]')) {
  button.addEventListener('click', () => {
    send('press', button.getAttribute('data-key') ?? '');
    send('release', button.getAttribute('data-key') ?? '');
  });
}

// --- the end of it ---

let anyway = false;
keepButton.addEventListener('click', async () => {
  keepButton.disabled = true;
  try {
    const told = await ask('POST', `${base}/keep`, { anyway });
    if (told.kept) {
      over = true;
      sessionStorage.setItem('say', told.message);
      window.location.assign('/keys');
      return;
    }
    anyway = true;
    keepButton.textContent = 'Keep it anyway';
    tell(told.message);
  } catch (error) {
    tell(sentenceOf(error));
  }
  keepButton.disabled = false;
});
root.querySelector('[data-close]')?.addEventListener('click', async () => {
  over = true;
  await ask('DELETE', `${base}`).catch(() => undefined);
  window.location.assign('/keys');
});

const wide = Math.round(stage.clientWidth);
if (wide < 700) send('size', Math.max(wide, 360), 640);
void watch();
stage.focus({ preventScroll: true });
