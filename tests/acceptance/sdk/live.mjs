// The client's realtime class through a whole meeting; prints what it heard as one JSON line.
// Arguments: base address, API key, address of a meeting that lets anyone in, model, file for the audio.
// On standard input: a line when the bot is to be stopped.
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createClient } from '@skribby/sdk';

const [baseUrl, apiKey, meetingUrl, model, audioFile] = process.argv.slice(2);
const EVENTS = ['connected', 'start', 'ts', 'chat-message', 'participant-tracked', 'started-speaking'];
EVENTS.push('stopped-speaking', 'status-update', 'stop', 'error');

const client = createClient({ api_key: apiKey, base_url: baseUrl });
const seen = { raw: [], named: {}, blocks: [], audioWasBuffer: true };

async function closed(realtime) {
  while (realtime.connected || realtime.audioConnected) await new Promise((resolve) => setTimeout(resolve, 50));
}

const bot = await client.createBot({
  service: 'gmeet',
  meeting_url: meetingUrl,
  transcription_model: model,
  lang: 'en',
  realtime_audio: true,
  bot_name: 'Minutes',
});
seen.id = bot.id;
const realtime = bot.getRealtimeClient();
const audio = createWriteStream(audioFile);
realtime.on('raw', (message) => seen.raw.push(message));
realtime.on('audio', (block) => {
  seen.audioWasBuffer &&= Buffer.isBuffer(block);
  seen.blocks.push(block.length);
  audio.write(block);
});
for (const name of EVENTS) {
  seen.named[name] = 0;
  realtime.on(name, () => (seen.named[name] += 1));
}
realtime.on('start', () => {
  realtime.send('chat-message', { content: 'Good morning from the socket.' });
  realtime.send('dance');
});
await realtime.connect();
seen.connected = [realtime.connected, realtime.audioConnected];

await once(createInterface({ input: process.stdin }), 'line');
realtime.send('stop');
await closed(realtime);
seen.transcript = realtime.transcript;

const late = (await client.getBotById(bot.id)).getRealtimeClient();
late.on('connected', (data) => (seen.late = data));
await late.connect();
await closed(late);
seen.lateTranscript = late.transcript;
audio.end();
await once(audio, 'finish');
console.log(JSON.stringify(seen));
process.exit(0);
