"""Run one task with a vendor, from files on disk to utterances: plan, send, map back, remember."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sederunt.model.transcript import Utterance
from sederunt.settings import Settings
from sederunt.transcription.cloud import plan
from sederunt.transcription.cloud.client import Client, Manners
from sederunt.transcription.cloud.job import Notes, VendorJob
from sederunt.transcription.cloud.plan import PlannedFile
from sederunt.transcription.cloud.reading import PAUSE_S, Unreadable, with_times
from sederunt.transcription.cloud.sound import BITS_PER_S, TaskSound, levels_of, media_type_as_it_is, write_file
from sederunt.transcription.cloud.vendor import Ask, Vendor, asked
from sederunt.transcription.provider import FinishedPart, Result, Task
from sederunt.transcription.text import cut_at_pauses

# Margin below a vendor's limits: it may count minutes or bytes differently.
MARGIN = 0.98


class Work:
    """A task, and its memory."""

    def __init__(
        self, vendor: Vendor, settings: Settings, task: Task, scratch: Path, manners: Manners | None = None
    ) -> None:
        assert task.access is not None
        self._vendor, self._settings, self._task, self._scratch = vendor, settings, task, scratch
        self._access, self._manners = task.access, manners or Manners()
        self._memory: dict[str, Any] = dict(task.memory.read()) if task.memory else {}

    async def results(self, tracks: Sequence[Path], *, join: bool) -> list[Result]:
        """Return one result per track."""
        ask = asked(
            self._task.model,
            self._access,
            lang=self._task.lang,
            vocabulary=self._task.vocabulary,
            mask_profanity=self._task.mask_profanity,
            mixed=self._task.several_voices and not join,
        )
        sound = TaskSound(tracks, self._task.caller_file_s, self._task.cancelled)
        files, media_type = self._files(sound, join=join, diarize=ask.diarize)
        file_results: list[Result] = []
        async with Client(self._vendor, self._settings, self._access, self._manners) as client:
            for number, file in enumerate(files):
                file_results.append(await self._heard(client, ask, file, sound, number, media_type))
                if self._task.on_progress:
                    self._task.on_progress(file.pieces[-1].end)
        return put_together(files, file_results, len(tracks), diarized=ask.diarize, masked=ask.mask_profanity)

    def _files(self, sound: TaskSound, *, join: bool, diarize: bool) -> tuple[list[PlannedFile], str | None]:
        """Return the files to send, and a media type if the only track is sent unchanged."""
        most_s = self._most_s()
        if join:
            return plan.joined_tracks([levels_of(sound, n) for n in range(len(sound.paths))], most_s), None
        facts = sound.facts()
        fits = most_s is None or facts.duration_s <= most_s
        is_small = sound.paths[0].stat().st_size <= (self._vendor.row.max_file_bytes or float("inf")) * MARGIN
        media_type = media_type_as_it_is(facts) if fits and is_small else None
        levels = None if fits else levels_of(sound, 0)
        return plan.whole(facts.duration_s, levels, most_s, linked_voices=diarize), media_type

    def _most_s(self) -> float | None:
        row, provider_settings = self._vendor.row, self._settings.providers.get(self._vendor.row.name)
        minutes = (provider_settings and provider_settings.max_audio_minutes) or row.max_audio_minutes
        by_time = minutes * 60 * MARGIN if minutes else None
        by_size = row.max_file_bytes * 8 / BITS_PER_S / 2 if row.max_file_bytes else None
        return min(filter(None, (by_time, by_size)), default=None)

    async def _heard(
        self, client: Client, ask: Ask, file: PlannedFile, sound: TaskSound, number: int, media_type: str | None
    ) -> Result:
        name = str(number)
        entry = self._memory.get(name, {})
        if "result" in entry:
            return result_of(entry["result"])
        path = sound.paths[0] if media_type else self._scratch / f"{number}.ogg"
        if media_type is None:
            write_file(file, sound, path)
        notes = Notes(entry, lambda values: self._remember(name, values))
        ask = replace(
            ask,
            reference=f"{self._task.reference or 'sederunt'}-{number}",
            duration_s=file.duration_s,
            media_type=media_type or "audio/ogg",
            file_name="sound" + _EXTENSIONS[media_type or "audio/ogg"],
        )
        job = VendorJob(ask, path, client, notes)
        try:
            result = await self._vendor.batch(job)
        except Unreadable as fault:
            raise job.failed(str(fault)) from fault
        utterances = with_times(result.utterances, file.duration_s)
        result = replace(result, utterances=utterances, copies=tuple(notes.copies))
        self._remember(name, {"copies": notes.copies, "result": json_of(result)})
        if media_type is None:
            path.unlink()
        return result

    def _remember(self, name: str, values: Mapping[str, Any]) -> None:
        self._memory[name] = dict(values)
        if self._task.memory is not None:
            self._task.memory.write(self._memory)


def put_together(
    files: Sequence[PlannedFile], file_results: Sequence[Result], tracks: int, *, diarized: bool, masked: bool
) -> list[Result]:
    """Turn results by file into results by track: map times back, link voices, take the language of most words."""
    utterances_by_track: list[list[Utterance]] = [[] for _ in range(tracks)]
    languages: list[Counter[str]] = [Counter() for _ in range(tracks)]
    for file, result in zip(files, file_results, strict=True):
        for source, utterances in plan.returned(file, result.utterances).items():
            if diarized and utterances_by_track[source]:
                all_utterances = plan.returned(
                    replace(file, counts_from=0.0, counts_to=float("inf")), result.utterances
                )
                utterances = plan.relabelled(utterances_by_track[source], utterances, all_utterances[source])
            utterances_by_track[source] += [
                part for each in utterances for part in cut_at_pauses(each, max(PAUSE_S, plan.BETWEEN_S))
            ]
            if result.detected_lang:
                languages[source][result.detected_lang] += sum(len(each.words) or 1 for each in utterances)
    copies = tuple(copy for result in file_results for copy in result.copies)
    total_counts = sum(languages, Counter[str]())
    return [
        Result(
            utterances=tuple(sorted(utterances, key=lambda each: each.start)),
            detected_lang=next((lang for lang, _ in (language_counts or total_counts).most_common(1)), None),
            diarized=diarized,
            masked=masked,
            copies=copies if n == 0 else (),
        )
        for n, (utterances, language_counts) in enumerate(zip(utterances_by_track, languages, strict=True))
    ]


def json_of(result: Result) -> dict[str, Any]:
    """Return a result as plain values, for the memory of a task."""
    part = FinishedPart(start=0.0, end=0.0, utterances=result.utterances)
    return {"part": part.to_json(), "lang": result.detected_lang, "copies": list(result.copies)}


def result_of(data: Mapping[str, Any]) -> Result:
    """Return the result that `json_of` wrote."""
    part = FinishedPart.from_json(data["part"])
    return Result(utterances=part.utterances, detected_lang=data["lang"], copies=tuple(data["copies"]))


_EXTENSIONS = {
    "audio/ogg": ".ogg",
    "audio/wav": ".wav",
    "audio/mpeg": ".mp3",
    "audio/flac": ".flac",
    "audio/mp4": ".m4a",
}

__all__ = ["Work", "json_of", "put_together", "result_of"]
