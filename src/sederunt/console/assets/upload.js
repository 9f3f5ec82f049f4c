// A recording by drag and drop, with its progress: fetch tells nothing while it sends, so the older way is taken.

import { csrfToken } from './api.js';

const form = /** @type {HTMLFormElement} */ (document.querySelector('form[data-upload]'));
const drop = /** @type {HTMLElement} */ (form.querySelector('.drop'));
const input = /** @type {HTMLInputElement} */ (form.querySelector('input[type="file"]'));
const bar = /** @type {HTMLProgressElement} */ (form.querySelector('progress'));
const told = /** @type {HTMLElement} */ (form.querySelector('[data-fault=""]'));
const name = /** @type {HTMLElement} */ (form.querySelector('[data-file-name]'));

/** @param {number} bytes */
function size(bytes) {
  return bytes < 1e6 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

function showFile() {
  const file = input.files?.[0];
  name.textContent = file ? `${file.name}, ${size(file.size)}` : 'No file chosen.';
}

for (const kind of ['dragenter', 'dragover']) {
  drop.addEventListener(kind, (event) => {
    event.preventDefault();
    drop.classList.add('over');
  });
}
for (const kind of ['dragleave', 'drop']) drop.addEventListener(kind, () => drop.classList.remove('over'));
drop.addEventListener('drop', (event) => {
  event.preventDefault();
  if (event.dataTransfer?.files.length) {
    input.files = event.dataTransfer.files;
    showFile();
  }
});
input.addEventListener('change', showFile);

form.addEventListener('submit', (event) => {
  event.preventDefault();
  told.textContent = '';
  if (!input.files?.length) {
    told.textContent = 'Choose a file first.';
    return;
  }
  const request = new XMLHttpRequest();
  request.open('POST', '/api/v1/recording');
  request.setRequestHeader('X-CSRF-Token', csrfToken());
  request.upload.addEventListener('progress', (progress) => {
    bar.classList.remove('hidden');
    bar.max = progress.total;
    bar.value = progress.loaded;
    name.textContent = `${size(progress.loaded)} of ${size(progress.total)}`;
  });
  request.addEventListener('loadend', () => {
    bar.classList.add('hidden');
    /** @type {any} */
    let answer = {};
    try {
      answer = JSON.parse(request.responseText);
    } catch {
      answer = { message: 'The service cannot be reached right now.' };
    }
    if (request.status === 200) window.location.assign(`/recordings/${answer.id}`);
    else told.textContent = Object.values(answer.errors ?? {}).flat().join(' ') || answer.message;
    showFile();
  });
  const fields = new FormData(form);
  for (const [key, value] of [...fields]) if (value === '') fields.delete(key);
  request.send(fields);
});
