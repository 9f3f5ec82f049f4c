// Every method of the client's bot and recording classes against a running service; prints what it saw as one JSON line.
// Arguments: base address, API key, address of a meeting that lets anyone in.
import {
  ApiRequestError,
  NotFoundError,
  RealtimeClient,
  UnauthorizedError,
  createClient,
} from '@skribby/sdk';

const [baseUrl, apiKey, meetingUrl] = process.argv.slice(2);
const client = createClient({ api_key: apiKey, base_url: baseUrl });
const seen = { kinds: {} };
const common = { service: 'gmeet', meeting_url: meetingUrl, transcription_model: 'none', bot_name: 'Minutes' };
const tomorrow = new Date(Math.floor(Date.now() / 1000 + 86400) * 1000);

async function refusal(act) {
  try {
    await act();
  } catch (error) {
    for (const kind of [UnauthorizedError, NotFoundError, ApiRequestError]) {
      if (error instanceof kind) {
        return { kind: kind.name, status: error.status, body: error.responseBody, message: error.message };
      }
    }
    throw error;
  }
  throw new Error(`nothing was refused: ${act}`);
}

async function until(resource, ...statuses) {
  for (let tries = 0; tries < 600; tries += 1) {
    if (statuses.includes(resource.data.status)) return resource.data.status;
    if (['failed', 'not_admitted'].includes(resource.data.status)) break;
    await new Promise((resolve) => setTimeout(resolve, 200));
    await resource.refresh();
  }
  throw new Error(`${resource.id} is ${resource.data.status}, not ${statuses}`);
}

async function scheduled() {
  const bot = await client.scheduleBot({
    ...common,
    scheduled_start_time: tomorrow,
    bot_avatar_file: new File(['x'], 'a.png'), // the client turns a file into {}
    stop_options: { time_limit: 60 },
    custom_metadata: { order: '7' },
    custom_vocabulary: ['Sederunt'],
    lang: 'en',
  });
  seen.scheduled = { ...bot.data };
  seen.kinds.created_at = bot.data.created_at instanceof Date;
  seen.kinds.scheduled_for = bot.data.scheduled_for.getTime() === tomorrow.getTime();
  seen.listed = (await client.getScheduledBots()).some((other) => other.id === bot.id);
  await bot.update({ bot_name: 'Renamed', scheduled_start_time: new Date(tomorrow.getTime() + 60000) });
  seen.renamed = { ...bot.data };
  const again = await client.updateBot(bot.id, { stop_options: { silence_detection: 0 } });
  seen.updated = { ...again.data };
  seen.prices = [await bot.getPricing(), await client.getBotPricing(bot.id)];
  seen.notRealtime = await refusal(async () => {
    try {
      bot.getRealtimeClient();
    } catch (error) {
      throw new ApiRequestError(error.message, 0);
    }
  });
  await bot.delete();
  seen.deleted = await refusal(() => client.getBotById(bot.id));
  seen.deletedTwice = await refusal(() => bot.delete());
}

async function inTheMeeting() {
  const bot = await client.createBot({ ...common, realtime_audio: true });
  seen.kinds.realtime = bot.getRealtimeClient() instanceof RealtimeClient;
  seen.kinds.realtimeWithoutAudio = bot.getRealtimeClient(true) instanceof RealtimeClient;
  await until(bot, 'recording');
  await bot.sendChatMessage('Good morning from the client.');
  seen.activeRefused = await refusal(() => bot.delete());
  seen.patchRefused = await refusal(() => bot.update({ bot_name: 'Late' }));
  await new Promise((resolve) => setTimeout(resolve, 3000)); // something to transcribe
  await bot.stop();
  await until(bot, 'finished');
  const found = await client.getBotById(bot.id);
  seen.finished = { ...found.data };
  seen.kinds.finished_at = found.data.finished_at instanceof Date;
  seen.kinds.available_until = found.data.recording_available_until instanceof Date;
  seen.kinds.first_seen_at = found.data.participants.every((person) => person.first_seen_at instanceof Date);
  seen.stopRefused = await refusal(() => bot.stop());
  return found;
}

async function transcribedAnew(bot) {
  const recording = await client.createRecording({ meeting_bot_id: bot.id, transcription_model: 'whisper', lang: 'en' });
  seen.recordingCreated = { ...recording.data };
  await until(recording, 'finished');
  const found = await client.getRecordingById(recording.id);
  seen.recording = { ...found.data };
  seen.kinds.recordingCreatedAt = found.data.created_at instanceof Date;
  seen.kinds.recordingEvents = found.data.events.every((event) => event.created_at instanceof Date);
  await recording.delete();
  seen.recordingDeleted = await refusal(() => recording.refresh());
}

async function refusals() {
  const stranger = createClient({ api_key: 'sk_wrong', base_url: baseUrl });
  seen.unauthorized = await refusal(() => stranger.getScheduledBots());
  seen.invalid = await refusal(() => client.createBot({ ...common, service: 'skype', stop_options: { time_limit: 1 } }));
  seen.slash = (await createClient({ api_key: apiKey, base_url: `${baseUrl}/` }).getScheduledBots()) instanceof Array;
}

seen.capacity = [
  await client.getReservedCapacity(),
  await client.setReservedCapacity(2),
  await client.getReservedCapacity(),
  await client.setReservedCapacity(0),
];
await refusals();
await scheduled();
await transcribedAnew(await inTheMeeting());
console.log(JSON.stringify(seen));
