"""`sederunt bench`: measurements that anyone can repeat on their machine."""

import asyncio
from pathlib import Path
from typing import Literal

import typer

from sederunt import log

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.callback()
def quiet() -> None:
    """Switch off logs, which would stand between the lines of the tables."""
    log.configure("lines", "warning")


@app.command()
def capture(
    case: list[str] = typer.Option([], help="Only these cases; may be repeated. Default: all."),
    repeats: int = typer.Option(3, min=1, help="Runs per case; the table shows medians."),
    classical: bool = typer.Option(True, help="Measure the classical bot (Xvfb, PulseAudio, ffmpeg) beside ours."),
) -> None:
    """Measure CPU, memory, start and losses of a bot in a practice meeting, beside a classical bot."""
    from sederunt.bench.capture import bench_capture

    raise typer.Exit(asyncio.run(bench_capture(case, repeats, classical=classical)))


@app.command()
def start(repeats: int = typer.Option(10, min=1, help="Bots sent; the figure is their median.")) -> None:
    """Measure the seconds from POST /bot to the first captured audio, on a warm service, admitted at once."""
    from sederunt.bench.start import bench_start

    raise typer.Exit(asyncio.run(bench_start(repeats)))


@app.command()
def idle(seconds: float = typer.Option(30.0, min=5, help="How long the CPU at rest is counted.")) -> None:
    """Measure what a service holds that nobody uses, by process, and what the first bot then waits for."""
    from sederunt.bench.idle import bench_idle

    raise typer.Exit(asyncio.run(bench_idle(seconds)))


@app.command()
def transcribe(
    model: list[str] = typer.Option(["tiny.en", "base"], help="Models to measure; may be repeated."),
    case: list[str] = typer.Option(
        [],
        help="Only these cases (clips, long, hard, coin flips, nobody, sparse, hour; noise 20 dB, noise 10 dB, "
        "noise 5 dB, telephone, room, faster, higher, quiet). Default: all.",
    ),
    engine: list[str] = typer.Option(
        [], help="Only these engines (sederunt, sederunt-best, plain, beam5, vad_filter). Default: all."
    ),
    speech: Path | None = typer.Option(None, help="A folder of clips with transcripts.json; default: those shipped."),
    data: Path = typer.Option(Path("data"), help="The data directory, where models lie."),
) -> None:
    """Measure word errors, lost speech, CPU and memory of the model in the box, beside plain faster-whisper."""
    from sederunt.bench.transcribe import bench_transcribe

    raise typer.Exit(bench_transcribe(model, case, engine, speech, data))


@app.command()
def scheduler(
    model: str = typer.Option("tiny.en", help="Whisper model."),
    minutes: float = typer.Option(5.0, min=0.5, help="Length of each of the three tracks."),
    cores: list[int] = typer.Option([1, 2], min=1, help="Cores to lend; may be repeated, the first is compared with."),
    speech: Path | None = typer.Option(None, help="A folder of clips with transcripts.json; default: those shipped."),
    data: Path = typer.Option(Path("data"), help="The data directory, where models lie."),
) -> None:
    """Measure what more cores gain a meeting of three tracks, and how long ten seconds take beside two uploads of four
    hours.
    """
    from sederunt.bench.scheduler import bench_scheduler

    raise typer.Exit(bench_scheduler(model, minutes, cores, speech, data))


@app.command()
def live(
    model: str = typer.Option("tiny.en", help="Whisper model."),
    talkers: list[int] = typer.Option([6], min=1, help="People who talk at once on one core; may be repeated."),
    clock: Literal["cpu", "wall"] = typer.Option("cpu", help="cpu: one core's own seconds; wall: as it happens."),
    through: Literal["engine", "service"] = typer.Option("engine", help="service: at a client's socket, in real time."),
    degraded: list[str] = typer.Option(
        [],
        help="Also this, repeatable, by the engine: noise 20 dB, noise 10 dB, noise 5 dB, telephone, room, faster, "
        "higher, quiet; all.",
    ),
    speech: Path | None = typer.Option(None, help="A folder of clips with transcripts.json; default: those shipped."),
    data: Path = typer.Option(Path("data"), help="The data directory, where models lie."),
) -> None:
    """Measure live speech: when words are shown and final, word errors beside offline, talkers per core, and a
    baseline."""
    from sederunt.bench.degraded import DEGRADED
    from sederunt.bench.live import bench_live, bench_live_service

    names = list(DEGRADED) if degraded == ["all"] else degraded
    if unknown := [name for name in names if name not in DEGRADED]:
        raise typer.BadParameter(f"'{unknown[0]}' is none of: {', '.join(DEGRADED)}, all.", param_hint="--degraded")

    if through == "service":
        raise typer.Exit(bench_live_service(model, speech, data))
    raise typer.Exit(bench_live(model, talkers, clock, speech, data, names))


@app.command()
def speakers(
    kind: list[str] = typer.Option(
        [],
        help="Only this, repeatable: voices (one track, no service), tracks, sources, events, gallery. Default: all.",
    ),
    model: str = typer.Option("tiny.en", help="Whisper model."),
    transcriber: str = typer.Option(
        "whisper", help="The transcription_model of the bots; a vendor's key and address are read from the environment."
    ),
    cpu: bool = typer.Option(True, help="Measure what ten people cost a bot against three."),
    repeats: int = typer.Option(3, min=1, help="Runs of the cost; the figures are medians."),
    speech: Path | None = typer.Option(None, help="For voices: clips with transcripts.json; default: those shipped."),
    data: Path = typer.Option(Path("data"), help="For voices: the data directory, where models lie."),
) -> None:
    """Measure who said what, in composed meetings of three and ten people: cpWER, names, and the cost of a
    larger meeting.
    """
    from sederunt.bench.speakers import Transcriber, bench_speakers
    from sederunt.bench.voices import bench_voices

    has_failed = bench_voices(speech, data, model) if not kind or "voices" in kind else False
    if kind != ["voices"]:
        has_failed |= bool(
            asyncio.run(bench_speakers(kind, Transcriber(whisper=model, model=transcriber), cpu=cpu, repeats=repeats))
        )
    raise typer.Exit(int(has_failed))


@app.command()
def providers(
    live: str = typer.Option("vendor2-realtime", help="The live model; empty leaves this out."),
    batch: str = typer.Option("vendor2", help="The model of the long recording; empty leaves this out."),
    seconds: float = typer.Option(60.0, min=2, help="How long the two bots are measured."),
    hours: float = typer.Option(4.0, min=0.01, max=24, help="Length of the recording."),
) -> None:
    """Measure what a cloud vendor costs this machine: a live bot above one that only records, and the worker's memory
    with a long recording. The vendor's key and address are read from the environment.
    """
    from sederunt.bench.providers import bench_providers

    raise typer.Exit(asyncio.run(bench_providers(live, batch, seconds, hours)))


@app.command()
def api(
    requests: int = typer.Option(8000, min=1600, help="GETs of one bot."),
    scheduled: int = typer.Option(10_000, min=0, help="Bots booked ahead; 0 leaves this out."),
    upload_mb: int = typer.Option(1000, min=0, max=1000, help="Size of the upload; 0 leaves this out."),
) -> None:
    """Measure the api process alone: requests per CPU-second, many bookings, and an upload of the largest size."""
    from sederunt.bench.api import bench_api

    raise typer.Exit(asyncio.run(bench_api(requests, scheduled, upload_mb)))


@app.command()
def listeners(
    listeners: int = typer.Option(200, min=1, help="Listeners on one bot; one more never reads."),
    bots: int = typer.Option(50, min=1, help="Bots with a listener each."),
    seconds: float = typer.Option(45.0, min=1, help="How long events come, in each of the two cases."),
    deaf: bool = typer.Option(True, help="Have a listener that never reads; it takes 40 s to be noticed."),
) -> None:
    """Measure what listeners of an api process hear of scripted meetings: everything, in order, and how soon."""
    from sederunt.bench.listeners import bench_listeners

    raise typer.Exit(asyncio.run(bench_listeners(listeners, bots, seconds, deaf=deaf)))


@app.command()
def load(
    bots: int = typer.Option(200, min=1, help="Bots in their meetings at the last of four steps."),
    seconds: float = typer.Option(20.0, min=1, help="How long each step is measured."),
    changes: float = typer.Option(0.25, min=0, help="Changes of speaker per second and bot."),
    database: str = typer.Option(
        "", help="Address of an empty PostgreSQL database; default: a SQLite file of its own."
    ),
) -> None:
    """Measure what bots cost api, worker, message server and a host without browsers, as a curve over their number."""
    from sederunt.bench.load import bench_load

    asyncio.run(bench_load(bots, seconds, changes, database))


@app.command()
def neighbours(
    row: list[str] = typer.Option([], help="Only these attacks; may be repeated. Default: all."),
    journeys: int = typer.Option(5, min=1, help="Recordings of the other account, at rest and beside the attack."),
    postgres: str = typer.Option(
        "", help="Address of a PostgreSQL database: each row is measured in a new one beside it, too."
    ),
) -> None:
    """Measure what attacks of one account cost another one: its reads and writes, fetches, transcriptions and webhooks
    beside each of them, against the same service at rest. Exit code 1 where one takes more than twice as long.
    """
    from sederunt.bench.neighbours import bench_neighbours

    raise typer.Exit(asyncio.run(bench_neighbours(row, journeys, postgres)))
