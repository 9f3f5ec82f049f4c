// The examples of the client's README, as they are printed: only the key, the address and the ids are ours.
// Arguments: base address, API key, address of a meeting that lets anyone in, ids of: a bot that records, a bot that is
// scheduled, a bot that has finished, a recording that has finished. Prints as JSON what each example did.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [baseUrl, apiKey, meetingUrl, recordingBot, scheduledBot, finishedBot, recordingId] = process.argv.slice(2);
const readme = readFileSync(fileURLToPath(new URL('node_modules/@skribby/sdk/README.md', import.meta.url)), 'utf8');

function examples() {
  const found = [];
  let title = '';
  for (const part of readme.split(/(^#+ .*$|^```ts\n[\s\S]*?^```$)/m)) {
    if (part.startsWith('#')) title = part.replace(/^#+ /, '');
    if (part.startsWith('```ts')) found.push({ title, code: part.slice(6, -3) });
  }
  return found;
}

// Which bot or recording an example is about.
const SUBJECTS = {
  'Update a Scheduled Bot': scheduledBot,
  'Delete a Bot': scheduledBot,
  'Re-transcribe from a Meeting Bot': finishedBot,
};

function ours(code, bot) {
  return code
    .replaceAll("api_key: 'SKRIBBY_API_KEY',", `api_key: ${JSON.stringify(apiKey)}, base_url: ${JSON.stringify(baseUrl)},`)
    .replaceAll(/base_url: ("[^"]*"),\s*base_url: '[^']*',/g, 'base_url: $1,')
    .replaceAll('https://meet.google.com/abc-defg-hij', meetingUrl)
    .replaceAll("'bot_123'", JSON.stringify(bot))
    .replaceAll("'rec_123'", JSON.stringify(recordingId));
}

// What ends a bot or deletes something comes after what looks at it.
const LAST = ['Real-time Transcription', 'Stop a Bot', 'Delete a Bot', 'Delete a Recording'];
const all = examples().sort((one, other) => LAST.indexOf(one.title) - LAST.indexOf(other.title));
const done = {};
for (const { title, code } of all) {
  const bot = SUBJECTS[title] ?? recordingBot;
  const isWhole = code.includes('import ');
  const prelude = `import { createClient } from '@skribby/sdk';
const client = createClient({ api_key: ${JSON.stringify(apiKey)}, base_url: ${JSON.stringify(baseUrl)} });
export default async function () {
  const said = [];
  const console = { log: (...words) => said.push(words.join(' ')) };
  let bot = await client.getBotById(${JSON.stringify(bot)});
  let recording = await client.getRecordingById(${JSON.stringify(recordingId)});
  {\n`;
  // A whole program ends when its meeting does; the others are a step each.
  const text = isWhole ? ours(code, bot) : `${prelude}${ours(code, bot)}\n  }\n  return said;\n}\n`;
  const file = new URL(`example-${Object.keys(done).length}.mjs`, import.meta.url);
  writeFileSync(file, text);
  try {
    done[title] = { said: isWhole ? [] : await (await import(pathToFileURL(fileURLToPath(file)).href)).default() };
    if (isWhole) done[title].program = fileURLToPath(file);
  } catch (error) {
    done[title] = { failed: `${error.name}: ${error.message} ${JSON.stringify(error.body ?? '')}` };
  }
}
console.log(JSON.stringify(done));
process.exit(0);
