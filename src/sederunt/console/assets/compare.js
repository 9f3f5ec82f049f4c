// Two transcripts side by side, as POST /comparison answers them. Rows out of sight are not laid out (the style sheet
// says so), so four hours are shown at once.

import { ask, sentenceOf } from './api.js';

/** @typedef {{text: string, same: boolean, speaker_name: string | null}} Passage */
/** @typedef {{start: number, end: number, first: Passage[], second: Passage[]}} Row */
/** @typedef {{transcription_model: string, detected_lang: string | null, words: number, word_error_rate: number | null}} Side */

const root = /** @type {HTMLElement} */ (document.querySelector('[data-comparison]'));
const fault = /** @type {HTMLElement} */ (root?.querySelector('[data-fault]'));
const rows = /** @type {HTMLElement} */ (root?.querySelector('[data-rows]'));

/** @param {number} seconds */
function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 3600)}:${String(Math.floor(whole / 60) % 60).padStart(2, '0')}:${String(whole % 60).padStart(2, '0')}`;
}

/** @param {Passage[]} passages */
function cell(passages) {
  const place = document.createElement('div');
  place.setAttribute('role', 'cell');
  let speaker = /** @type {string | null | undefined} */ (undefined);
  for (const passage of passages) {
    if (passage.speaker_name !== speaker) {
      speaker = passage.speaker_name;
      const by = document.createElement('strong');
      by.textContent = `${speaker ?? 'Somebody'}: `;
      place.append(by);
    }
    const text = document.createElement(passage.same ? 'span' : 'mark');
    text.textContent = passage.text;
    place.append(text, ' ');
  }
  return place;
}

/** @param {Row} row */
function line(row) {
  const place = document.createElement('div');
  place.className = 'compared-row';
  place.setAttribute('role', 'row');
  const time = document.createElement('span');
  time.setAttribute('role', 'cell');
  time.className = 'at';
  time.textContent = clock(row.start);
  place.append(time, cell(row.first), cell(row.second));
  return place;
}

/** @param {Side} side */
function heading(side) {
  const rate = side.word_error_rate === null ? '' : `, ${(side.word_error_rate * 100).toFixed(1)} % wrong`;
  return `${side.transcription_model}: ${side.words.toLocaleString()} words${rate}`;
}

/** @param {string} [reference] */
async function compare(reference) {
  fault.textContent = '';
  try {
    const body = { first: root.dataset.first, second: root.dataset.second, ...(reference ? { reference } : {}) };
    const told = await ask('POST', '/comparison', body);
    for (const name of ['first', 'second']) {
      const head = root.querySelector(`[data-head="${name}"]`);
      if (head) head.textContent = heading(told[name]);
    }
    rows.replaceChildren(...told.rows.map(line));
    if (!told.rows.length) fault.textContent = 'Neither has a word in it.';
  } catch (error) {
    fault.textContent = sentenceOf(error);
  }
  root.querySelector('[data-waiting]')?.remove();
}

if (root) {
  root.querySelector('[data-reference]')?.addEventListener('submit', (event) => {
    event.preventDefault();
    const field = /** @type {HTMLTextAreaElement} */ (root.querySelector('#reference'));
    void compare(field.value.trim());
  });
  void compare();
}
