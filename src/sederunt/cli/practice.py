"""`sederunt practice`: run the practice sites as a process of their own, and print scripts for them."""

import asyncio
import secrets
import signal
from pathlib import Path
from typing import get_args

import typer

from sederunt import log
from sederunt.cli.terminal import plain, tell, tell_json
from sederunt.errors import InvalidConfig
from sederunt.practice import clips, script
from sederunt.practice.server import PracticeServer

app = typer.Typer(no_args_is_help=True, add_completion=False)
SPEECH = typer.Option([], help="A folder of WAV clips with a transcripts.json, for scripts to use; may be repeated.")


@app.command()
def serve(
    port: int = typer.Option(8443, help="Port of the sites (TLS); 0 picks a free one."),
    control_port: int = typer.Option(8444, help="Port of the control API; 0 picks a free one."),
    meeting: list[Path] = typer.Option([], help="A script (.toml or .json) to open a meeting with; may be repeated."),
    demo: bool = typer.Option(False, help="Open a meeting with the demonstration script."),
    speech: list[Path] = SPEECH,
    control_token: bool = typer.Option(
        False, "--control-token", help="Put a token into the control API's address: only who reads the output has it."
    ),
) -> None:
    """Run the practice sites until interrupted; prints what a browser needs to reach them, one JSON object."""
    log.configure("lines")
    _offer(speech)
    scripts = [_read(path) for path in meeting] + ([script.demo()] if demo else [])
    asyncio.run(_serve(port, control_port, scripts, secrets.token_urlsafe(24) if control_token else ""))


@app.command()
def demo_script(
    service: str = typer.Option(script.DEFAULT_SERVICE, help=f"One of: {', '.join(get_args(script.Service))}."),
) -> None:
    """Print the demonstration script as JSON, to be changed and given to `serve --meeting`."""
    data = script.to_data(script.parse(script.to_data(script.demo()) | {"service": service}))
    tell_json(data, indent=2, readable=True)


@app.command("clips")
def list_clips(speech: list[Path] = SPEECH) -> None:
    """List the speech clips that scripts can use."""
    _offer(speech)
    for clip in clips.catalogue().values():
        tell(f"{plain(clip.id):18} {clips.load(clip.id).duration_s:5.1f} s  {plain(clip.text)}")


def _offer(folders: list[Path]) -> None:
    try:
        for folder in folders:
            clips.offer(folder)
    except InvalidConfig as error:
        raise typer.BadParameter(str(error), param_hint="--speech") from error


def _read(path: Path) -> script.Script:
    try:
        return script.read(path)
    except InvalidConfig as error:
        faults = [f"{field}: {' '.join(sentences)}" for field, sentences in error.fields.items()]
        raise typer.BadParameter(f"{path}: {' '.join(faults)}", param_hint="--meeting") from error


async def _serve(port: int, control_port: int, scripts: list[script.Script], control_token: str) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with PracticeServer(port, control_port=control_port, control_token=control_token) as server:
        meeting_urls = [(await server.open_meeting(meeting_script)).url for meeting_script in scripts]
        facts = {"port": server.port, "control_url": server.control_url, "host_rules": server.host_rules}
        tell_json(facts | {"meetings": meeting_urls})
        await stop.wait()
