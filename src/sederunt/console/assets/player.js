// The player: sound or video, the shape of it, who spoke when, and a transcript that follows, seeks, and is searched.
// Only what is in sight of the transcript is in the page: four hours of it are some thousand segments.

import WaveSurfer from './vendor/wavesurfer.esm.js';
import { ask, say, sentenceOf } from './api.js';
import { phrasesOf, placesOf, termsOf } from './finding.js';

/** @typedef {{s: number, e: number, w: string | null, g: string[], n: number, t: string, ws: [string, number, number][]}} Segment */

const root = /** @type {HTMLElement} */ (document.querySelector('[data-player]'));
const base = /** @type {string} */ (root.dataset.player);
const media = /** @type {HTMLMediaElement | null} */ (root.querySelector('audio, video'));
const list = /** @type {HTMLElement} */ (root.querySelector('.list'));
const inner = /** @type {HTMLElement} */ (list.querySelector('.inner'));
const follow = /** @type {HTMLInputElement | null} */ (root.querySelector('[data-follow]'));
const needle = /** @type {HTMLInputElement} */ (root.querySelector('[data-needle]'));
const place = /** @type {HTMLElement} */ (root.querySelector('[data-place]'));
const mayWrite = root.dataset.mayWrite === 'yes';
const OVERSCAN = 6;
const SVG = 'http://www.w3.org/2000/svg';

/** @type {Segment[]} */
let segments = [];
/** @type {Set<number>} */
let fixed = new Set();
/** @type {number[]} */
let heights = [];
/** @type {number[]} */
let tops = [0];
/** @type {Map<number, HTMLElement>} */
const shown = new Map();
let current = -1;
let currentWord = -1;
/** @type {{segment: number, words: Set<number>}[]} */
let hits = [];
let hit = -1;

/** @param {number} seconds */
function clock(seconds) {
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 3600)}:${String(Math.floor(whole / 60) % 60).padStart(2, '0')}:${String(whole % 60).padStart(2, '0')}`;
}

/** @param {Segment} segment */
function speaker(segment) {
  return segment.w ?? (segment.g[0] ? `${segment.g[0]}?` : `Speaker ${segment.n + 1}`);
}

// --- the list ---

/** @param {number[]} known heights of the first ones */
function estimate(known) {
  const perLine = Math.max(20, (list.clientWidth - 110) / 7.4);
  heights = segments.map((segment, number) => known[number] ?? 44 + Math.ceil(segment.t.length / perLine) * 23);
  stack();
}

function stack() {
  tops = [0];
  let top = 0;
  for (const height of heights) tops.push((top += height));
  inner.style.height = `${top}px`;
}

/** The first segment that ends below this height. @param {number} y */
function at(y) {
  let low = 0;
  let high = segments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tops[middle + 1] ?? 0) > y) high = middle;
    else low = middle + 1;
  }
  return low;
}

function draw() {
  const first = Math.max(0, at(list.scrollTop) - OVERSCAN);
  const last = Math.min(segments.length, at(list.scrollTop + list.clientHeight) + OVERSCAN + 1);
  for (const [number, row] of shown) {
    if (number < first || number >= last) {
      row.remove();
      shown.delete(number);
    }
  }
  for (let number = first; number < last; number += 1) {
    if (!shown.has(number)) {
      const row = make(number);
      shown.set(number, row);
      inner.append(row);
    }
  }
  measure();
}

/** Rows are as high as they are: those that differ from the guess move what is below them. */
function measure() {
  const anchor = at(list.scrollTop);
  const before = tops[anchor] ?? 0;
  let changed = false;
  for (const [number, row] of shown) {
    const height = row.offsetHeight;
    if (height && Math.abs(height - (heights[number] ?? 0)) > 1) {
      heights[number] = height;
      changed = true;
    }
  }
  if (changed) {
    stack();
    list.scrollTop += (tops[anchor] ?? 0) - before;
  }
  for (const [number, row] of shown) row.style.transform = `translateY(${tops[number]}px)`;
}

/** @param {number} number */
function make(number) {
  const segment = /** @type {Segment} */ (segments[number]);
  const row = document.createElement('div');
  row.className = 'segment';
  row.dataset.number = String(number);
  row.setAttribute('role', 'listitem');
  const time = document.createElement('button');
  time.className = 'at';
  time.type = 'button';
  time.textContent = clock(segment.s);
  time.setAttribute('aria-label', `Play from ${clock(segment.s)}`);
  time.addEventListener('click', () => seek(segment.s));
  const body = document.createElement('div');
  const by = document.createElement(mayWrite ? 'button' : 'span');
  by.className = segment.w ? 'by' : 'by guess';
  by.textContent = speaker(segment);
  if (mayWrite) {
    by.setAttribute('type', 'button');
    by.title = 'Put something right here';
    by.addEventListener('click', () => correct(number));
  }
  body.append(by);
  if (fixed.has(number)) {
    const note = document.createElement('span');
    note.className = 'fixed';
    note.textContent = ' · corrected';
    body.append(note);
  }
  body.append(words(segment, number));
  row.append(time, body);
  paint(row, number);
  return row;
}

/** @param {Segment} segment @param {number} number */
function words(segment, number) {
  const line = document.createElement('p');
  line.className = 'words';
  if (!segment.ws.length) {
    line.textContent = segment.t;
    return line;
  }
  segment.ws.forEach(([word, from], index) => {
    const span = document.createElement('span');
    span.className = 'word';
    span.textContent = word.trim();
    span.dataset.word = String(index);
    span.addEventListener('click', () => seek(from));
    if (mayWrite) span.addEventListener('dblclick', () => correct(number, index));
    line.append(span, ' ');
  });
  return line;
}

/** What is current and what was found, on one row. @param {HTMLElement} row @param {number} number */
function paint(row, number) {
  const isCurrent = number === current;
  row.classList.toggle('current', isCurrent);
  const found = hits.find((one) => one.segment === number)?.words;
  for (const span of row.querySelectorAll('.word')) {
    const index = Number(/** @type {HTMLElement} */ (span).dataset.word);
    span.classList.toggle('current', isCurrent && index === currentWord);
    span.classList.toggle('found', found?.has(index) ?? false);
  }
}

/** @param {number} number @param {boolean} smooth */
function reveal(number, smooth) {
  const top = tops[number] ?? 0;
  const bottom = tops[number + 1] ?? top;
  if (top >= list.scrollTop && bottom <= list.scrollTop + list.clientHeight * 0.8) return;
  list.scrollTo({ top: Math.max(0, top - list.clientHeight * 0.25), behavior: smooth ? 'smooth' : 'instant' });
}

// --- time ---

/** @param {number} seconds */
function seek(seconds) {
  if (!media) return;
  media.currentTime = seconds;
  void media.play().catch(() => {});
}

/** The last of these that begins by now. @param {number} count @param {(n: number) => number} begins @param {number} now */
function latest(count, begins, now) {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (begins(middle) <= now) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

function tick() {
  if (!media) return;
  for (const line of root.querySelectorAll('.lane line')) {
    line.setAttribute('x1', String(media.currentTime));
    line.setAttribute('x2', String(media.currentTime));
  }
  const now = media.currentTime + 0.05;
  const number = latest(segments.length, (n) => segments[n]?.s ?? 0, now);
  const spoken = segments[number]?.ws ?? [];
  const word = latest(spoken.length, (n) => spoken[n]?.[1] ?? 0, now);
  if (number === current && word === currentWord) return;
  const before = current;
  current = number;
  currentWord = word;
  for (const one of new Set([before, current])) {
    const row = shown.get(one);
    if (row) paint(row, one);
  }
  if (number !== before && number >= 0 && follow?.checked && !media.paused) reveal(number, true);
}

// --- search within ---

/** @type {WeakMap<Segment, string[]>} the words of what was searched before */
const termsOfSegments = new WeakMap();

/** @param {Segment} segment */
function termsIn(segment) {
  const words = termsOfSegments.get(segment) ?? termsOf(segment.t);
  termsOfSegments.set(segment, words);
  return words;
}

function search() {
  const asked = phrasesOf(needle.value);
  hits = [];
  hit = -1;
  segments.forEach((segment, number) => {
    if (placesOf(termsIn(segment), asked)) hits.push({ segment: number, words: foundWords(segment, asked) });
  });
  for (const [number, row] of shown) paint(row, number);
  go(0);
}

/** Which of a segment's words hold what was found: one may be two that are asked for. @param {Segment} segment @param {import('./finding.js').Phrase[]} asked */
function foundWords(segment, asked) {
  const parts = segment.ws.flatMap(([word], index) => termsOf(word).map((term) => ({ term, index })));
  const places = placesOf(parts.map((part) => part.term), asked) ?? [];
  return new Set([...places].map((place) => /** @type {{index: number}} */ (parts[place]).index));
}

/** @param {number} to */
function go(to) {
  if (!hits.length) {
    place.textContent = needle.value.trim() ? 'Not found' : '';
    return;
  }
  hit = (to + hits.length) % hits.length;
  place.textContent = `${hit + 1} of ${hits.length}`;
  reveal(hits[hit]?.segment ?? 0, false);
}

needle.addEventListener('input', search);
needle.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') {
    event.preventDefault();
    go(hit + (event.shiftKey ? -1 : 1));
  }
});
root.querySelector('[data-next]')?.addEventListener('click', () => go(hit + 1));
root.querySelector('[data-previous]')?.addEventListener('click', () => go(hit - 1));

// --- corrections ---

const dialog = /** @type {HTMLDialogElement | null} */ (document.getElementById('correction'));

/** @param {number} number @param {number} [word] */
function correct(number, word) {
  const segment = segments[number];
  const choice = dialog?.querySelector('[name="word"]');
  if (!dialog || !segment || !(choice instanceof HTMLSelectElement)) return;
  choice.replaceChildren(...segment.ws.map(([text], index) => new Option(text, String(index), false, index === (word ?? 0))));
  for (const form of dialog.querySelectorAll('form')) {
    form.reset();
    const target = form.querySelector('[name="segment"]');
    if (target instanceof HTMLInputElement) target.value = String(number);
    const before = form.querySelector('[name="before"]');
    if (before instanceof HTMLInputElement) before.value = segment.w ?? '';
  }
  choice.value = String(word ?? 0);
  dialog.querySelector('[data-everywhere]')?.classList.toggle('hidden', !segment.w);
  dialog.querySelector('[data-of-word]')?.classList.toggle('hidden', !segment.ws.length);
  dialog.showModal();
  const first = dialog.querySelector(word === undefined ? '[data-of-speaker] [name="after"]' : '[data-of-word] [name="after"]');
  if (first instanceof HTMLInputElement) {
    if (word !== undefined) first.value = segment.ws[word]?.[0] ?? '';
    first.focus();
  }
}

dialog?.addEventListener('api:done', () => {
  say('Put right. The original is kept beside it.');
  void load();
});

// --- keys ---

document.addEventListener('keydown', (event) => {
  const target = event.target instanceof HTMLElement ? event.target : null;
  if (!media || event.ctrlKey || event.metaKey || event.altKey || target?.closest('input, textarea, select, dialog, audio, video')) return;
  if (event.key === ' ' && target?.closest('button, a, summary')) return;
  switch (event.key) {
    case ' ':
    case 'k':
      if (media.paused) void media.play();
      else media.pause();
      break;
    case 'ArrowLeft':
    case 'j':
      media.currentTime -= 5;
      break;
    case 'ArrowRight':
    case 'l':
      media.currentTime += 5;
      break;
    case '/':
      needle.focus();
      break;
    default:
      return;
  }
  event.preventDefault();
});
root.querySelector('[data-speed]')?.addEventListener('change', (event) => {
  if (media && event.target instanceof HTMLSelectElement) media.playbackRate = Number(event.target.value);
});

// --- the shape ---

/** @param {{name: string, spans: [number, number][]}[]} lanes @param {number} duration */
function showLanes(lanes, duration) {
  const there = root.querySelector('.lanes');
  if (!there || !duration) return;
  there.replaceChildren(
    ...lanes.map((lane) => {
      const row = document.createElement('div');
      row.className = 'lane';
      const name = document.createElement('span');
      name.className = 'name';
      name.textContent = lane.name;
      const picture = document.createElementNS(SVG, 'svg');
      picture.setAttribute('viewBox', `0 0 ${duration} 10`);
      picture.setAttribute('preserveAspectRatio', 'none');
      picture.setAttribute('role', 'img');
      const spoke = Math.round(lane.spans.reduce((sum, [from, to]) => sum + to - from, 0));
      picture.setAttribute('aria-label', `${lane.name} spoke ${spoke} seconds`);
      for (const [from, to] of lane.spans) {
        const span = document.createElementNS(SVG, 'rect');
        span.setAttribute('x', String(from));
        span.setAttribute('width', String(Math.max(to - from, duration / 800)));
        span.setAttribute('height', '10');
        picture.append(span);
      }
      const line = document.createElementNS(SVG, 'line');
      line.setAttribute('y2', '10');
      line.setAttribute('stroke', 'currentColor');
      line.setAttribute('stroke-width', '2');
      line.setAttribute('vector-effect', 'non-scaling-stroke');
      picture.append(line);
      picture.addEventListener('click', (event) => {
        const box = picture.getBoundingClientRect();
        seek(((event.clientX - box.left) / box.width) * duration);
      });
      row.append(name, picture);
      return row;
    }),
  );
}

async function showWave() {
  const container = /** @type {HTMLElement | null} */ (root.querySelector('.wave'));
  if (!container || !media) return;
  const waiting = container.querySelector('.waiting');
  for (let tries = 0; tries < 40; tries += 1) {
    const answer = await fetch(`${base}/peaks.json`);
    if (answer.status === 200) {
      const { peaks, duration } = await answer.json();
      if (!peaks.length) break;
      waiting?.remove();
      const styles = getComputedStyle(container);
      WaveSurfer.create({
        container,
        media,
        peaks: [peaks.map((/** @type {number} */ level) => level / 100)],
        duration,
        height: 64,
        barWidth: 2,
        barGap: 1,
        barRadius: 1,
        waveColor: styles.getPropertyValue('color'),
        progressColor: getComputedStyle(/** @type {Element} */ (document.querySelector('a'))).color,
        cursorWidth: 2,
        dragToSeek: true,
        hideScrollbar: true,
        cspNonce: root.dataset.nonce,
      });
      return;
    }
    if (answer.status !== 202) break;
    await new Promise((resolve) => window.setTimeout(resolve, 1500));
  }
  if (waiting) waiting.textContent = 'No waveform.';
}

let loading = 0;

/** The transcript comes in pieces: the first is shown at once, a later load takes the place of all only when it is whole. */
async function load() {
  const mine = ++loading;
  const again = segments.length > 0;
  /** @type {Segment[]} */
  const fresh = [];
  let after = '';
  try {
    do {
      const told = await ask('GET', `page:${base}/player.json${after ? `?after=${after}` : ''}`);
      if (mine !== loading) return;
      if (!after) lanes = told.lanes;
      fresh.push(...told.transcript);
      after = told.next ?? '';
      if (!again || !after) replaceAll(fresh, told.corrected);
    } while (after);
  } catch (error) {
    place.textContent = sentenceOf(error);
  }
}

/** @type {{name: string, spans: [number, number][]}[]} */
let lanes = [];

/** @param {Segment[]} fresh @param {number[]} corrected */
function replaceAll(fresh, corrected) {
  const kept = segments.length && fresh.length > segments.length && fresh[0] === segments[0];
  segments = [...fresh];
  fixed = new Set(corrected);
  if (!kept) {
    for (const row of shown.values()) row.remove();
    shown.clear();
  }
  estimate(kept ? heights : []);
  draw();
  showLanes(lanes, Number(root.dataset.duration) || (segments.at(-1)?.e ?? 0));
  tick();
  if (needle.value.trim()) search();
}

list.addEventListener('scroll', () => window.requestAnimationFrame(draw), { passive: true });
new ResizeObserver(() => {
  if (segments.length) draw();
}).observe(list);
media?.addEventListener('timeupdate', tick);
media?.addEventListener('seeking', tick);
media?.addEventListener('seeked', tick);
const loaded = load();
void showWave();
await loaded;
const wanted = new URLSearchParams(window.location.search);
if (wanted.has('q')) {
  needle.value = wanted.get('q') ?? '';
  search();
}
if (wanted.has('at')) {
  const from = Number(wanted.get('at')) || 0;
  if (media) media.currentTime = from;
  const number = latest(segments.length, (n) => segments[n]?.s ?? 0, from + 0.01); // they are rounded
  const found = hits.findIndex((one) => one.segment === number);
  if (found >= 0) go(found);
  else reveal(number, false);
}
