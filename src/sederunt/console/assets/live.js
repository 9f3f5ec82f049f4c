// A bot while it works. Events come as the sockets' listeners hear them; the roster and who spoke when come from the API,
// asked for only while somebody looks.

import { ask, say, sentenceOf } from './api.js';

/** @typedef {{segment_id: string, transcript: string, start: number, end: number, speaker: number, speaker_name: string | null}} Line */

const root = /** @type {HTMLElement} */ (document.querySelector('[data-bot]'));
const botId = /** @type {string} */ (root.dataset.bot);
const captions = /** @type {HTMLElement} */ (root.querySelector('.captions'));
const chat = /** @type {HTMLElement} */ (root.querySelector('.chat'));
const people = /** @type {HTMLElement} */ (root.querySelector('.people'));
const lanes = /** @type {HTMLElement} */ (root.querySelector('.lanes'));
const noCaptions = root.querySelector('[data-no-captions]');
const POLL_MS = 2000;
const PICTURE_MS = 15_000;
const AGAIN_MS = 3000;
const LANE_S = 120;
const SVG = 'http://www.w3.org/2000/svg';

/** @param {number} seconds */
function clock(seconds) {
  const whole = Math.max(0, Math.floor(seconds));
  const rest = `${String(Math.floor(whole / 60) % 60).padStart(2, '0')}:${String(whole % 60).padStart(2, '0')}`;
  return whole >= 3600 ? `${Math.floor(whole / 3600)}:${rest}` : rest;
}

/** @param {string} name */
function initials(name) {
  const words = name.split(/\s+/).filter(Boolean);
  return ((words[0]?.[0] ?? '?') + (words.length > 1 ? (words.at(-1)?.[0] ?? '') : '')).toUpperCase();
}

/** One caption, new or in place of what stood there. @param {Line} line @param {boolean} draft */
function showLine(line, draft) {
  noCaptions?.classList.add('hidden');
  const id = `line-${line.segment_id}`;
  const atEnd = captions.scrollHeight - captions.scrollTop - captions.clientHeight < 60;
  let row = document.getElementById(id);
  if (draft && row && !row.classList.contains('draft')) return;
  if (!row) {
    row = document.createElement('div');
    row.id = id;
    row.append(document.createElement('span'), document.createElement('span'));
    row.dataset.start = String(line.start);
    const later = [...captions.children].find((one) => one instanceof HTMLElement && Number(one.dataset.start) > line.start);
    captions.insertBefore(row, later ?? null);
  }
  row.className = draft ? 'caption draft' : 'caption';
  const [at, said] = row.children;
  if (!at || !said) return;
  at.className = 'at';
  at.textContent = clock(line.start);
  said.className = 'said';
  const by = document.createElement('span');
  by.className = 'by';
  by.textContent = `${line.speaker_name ?? `Speaker ${line.speaker + 1}`}: `;
  // What is put into a log is read out, also what stood there before.
  if (said.textContent !== by.textContent + line.transcript) said.replaceChildren(by, line.transcript);
  if (atEnd) captions.scrollTop = captions.scrollHeight;
}

/** @param {{username: string, content: string}} message */
function showChat(message) {
  root.querySelector('[data-no-chat]')?.classList.add('hidden');
  const line = document.createElement('p');
  const by = document.createElement('strong');
  by.textContent = `${message.username}: `;
  line.append(by, message.content);
  chat.append(line);
  chat.scrollTop = chat.scrollHeight;
}

/** What is known, in place of what is shown: only what is another changes. @param {{transcripts: Line[], chat_messages: {username: string, content: string}[]}} known */
function showKnown({ transcripts, chat_messages: messages }) {
  const told = new Set(transcripts.map((line) => `line-${line.segment_id}`));
  for (const row of captions.querySelectorAll('.caption')) if (!told.has(row.id)) row.remove();
  for (const line of transcripts) showLine(line, false);
  const written = [...chat.querySelectorAll('p:not([data-no-chat])')];
  const goesOn = written.every((row, n) => row.textContent === `${messages[n]?.username}: ${messages[n]?.content}`);
  if (!goesOn) for (const row of written) row.remove();
  messages.slice(goesOn ? written.length : 0).forEach(showChat);
}

/** @param {any} message */
function take(message) {
  const data = message.data ?? {};
  switch (message.type) {
    case 'connected':
      showKnown(data);
      break;
    case 'ts':
    case 'ts-revised':
      showLine(data, false);
      break;
    case 'ts-draft':
      showLine(data, true);
      break;
    case 'chat-message':
      showChat(data);
      break;
    case 'status-update':
      void refresh();
      break;
    default:
  }
}

/** Timeline and head are the server's: taken over from a fresh page. When the bot has ended, that page is shown. */
async function refresh() {
  const answer = await fetch(window.location.href, { headers: { 'X-Part': 'live' } });
  if (!answer.ok) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  if (!fresh.querySelector('[data-live]')) {
    window.location.reload();
    return;
  }
  for (const part of ['head', 'story']) {
    const here = root.querySelector(`[data-part="${part}"]`);
    const there = fresh.querySelector(`[data-part="${part}"]`);
    if (here && there && here.innerHTML !== there.innerHTML) here.replaceWith(document.adoptNode(there));
  }
}

/** Who is here, and who speaks. @param {any} bot */
function showPeople(bot) {
  const now = Date.now();
  root.querySelector('[data-no-people]')?.classList.toggle('hidden', bot.participants.length > 0);
  people.replaceChildren(
    ...bot.participants.map((/** @type {any} */ person) => {
      const speaking = person.events?.at(-1)?.type === 'started-speaking';
      const row = document.createElement('li');
      row.classList.toggle('speaking', speaking);
      const face = document.createElement('span');
      face.className = 'face';
      face.setAttribute('aria-hidden', 'true');
      face.textContent = initials(person.name);
      const name = document.createElement('span');
      name.textContent = person.name;
      const state = document.createElement('span');
      state.className = 'hint';
      state.textContent = speaking ? 'speaks' : '';
      row.append(face, name, state);
      return row;
    }),
  );
  lanes.replaceChildren(...bot.participants.filter((/** @type {any} */ person) => person.events?.length).map((/** @type {any} */ person) => lane(person, now)));
}

/** The last two minutes of one person. @param {any} person @param {number} now */
function lane(person, now) {
  const row = document.createElement('div');
  row.className = 'lane';
  const name = document.createElement('span');
  name.className = 'name';
  name.textContent = person.name;
  const picture = document.createElementNS(SVG, 'svg');
  picture.setAttribute('viewBox', `0 0 ${LANE_S} 10`);
  picture.setAttribute('preserveAspectRatio', 'none');
  picture.setAttribute('role', 'img');
  picture.setAttribute('aria-label', `When ${person.name} spoke in the last two minutes`);
  let from = 0;
  for (const event of [...person.events, { type: 'stopped-speaking', timestamp: now }]) {
    if (event.type === 'started-speaking') from ||= event.timestamp;
    else if (from) {
      const begin = Math.max(0, LANE_S - (now - from) / 1000);
      const end = LANE_S - (now - event.timestamp) / 1000;
      if (end > begin) {
        const span = document.createElementNS(SVG, 'rect');
        span.setAttribute('x', begin.toFixed(2));
        span.setAttribute('width', (end - begin).toFixed(2));
        span.setAttribute('height', '10');
        picture.append(span);
      }
      from = 0;
    }
  }
  row.append(name, picture);
  return row;
}

let status = root.dataset.status ?? '';
let events = 0; // that the story tells of

/** Show what can be done in this status, and nothing that would only be refused. */
function offer() {
  for (const part of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll('[data-while]'))) {
    part.classList.toggle('hidden', !(part.dataset.while ?? '').split(' ').includes(status));
  }
}

offer();

async function poll() {
  if (document.hidden) return;
  try {
    const bot = await ask('GET', `/bot/${botId}?with-speaker-events=true`);
    showPeople(bot);
    if (bot.status !== status || bot.events.length !== events) {
      status = bot.status;
      events = bot.events.length;
      offer();
      await refresh();
    }
  } catch {
    // the next round asks again
  }
}

const picture = /** @type {HTMLImageElement} */ (root.querySelector('[data-picture]'));
const pictureSays = /** @type {HTMLElement} */ (root.querySelector('[data-picture-says]'));

async function look() {
  if (document.hidden || !['joining', 'recording', 'leaving'].includes(status)) return;
  try {
    const answer = await fetch(`/bots/${botId}/picture.png`);
    if (answer.status !== 200) throw new Error('The bot has no page right now.');
    const before = picture.src;
    picture.src = URL.createObjectURL(await answer.blob());
    picture.classList.remove('hidden');
    pictureSays.textContent = `Seen at ${new Date().toLocaleTimeString()}.`;
    if (before) URL.revokeObjectURL(before);
  } catch (error) {
    pictureSays.textContent = sentenceOf(error);
  }
}

root.querySelector('[data-look]')?.addEventListener('click', () => void look());
root.addEventListener('api:done', (event) => {
  const form = event.target;
  if (form instanceof HTMLFormElement && form.matches('[data-chat]')) {
    form.reset();
    say('Posted to the chat.');
  }
});

/** Hear the bot until it is over. What is cut, the browser asks for again; what is refused (the service is away), it does not. */
function hear() {
  const feed = new EventSource(`/bots/${botId}/feed`);
  feed.addEventListener('message', (event) => take(JSON.parse(event.data)));
  feed.addEventListener('over', () => {
    feed.close();
    void refresh();
  });
  feed.addEventListener('error', () => {
    if (feed.readyState === EventSource.CLOSED) window.setTimeout(hear, AGAIN_MS);
  });
}

hear();
void poll();
void look();
window.setInterval(() => void poll(), POLL_MS);
window.setInterval(() => void look(), PICTURE_MS);
