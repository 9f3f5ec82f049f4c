"""The `sederunt` command: each command group has a module of its own, which is imported only when called."""

import atexit
import importlib
import os
import sys
import traceback
from typing import Annotated, NoReturn

import typer
from typer.exceptions import TyperException

from sederunt import __version__
from sederunt.cli.error_messages import sentence_of
from sederunt.cli.hardening import harden
from sederunt.cli.terminal import plain, tell
from sederunt.terminal import plain_lines

# command → (module, attribute, help). Loaded lazily so that `sederunt keys` does not import browsers and models.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "serve": ("sederunt.cli.serve", "serve", "Run everything on this machine: NATS, api, host, worker."),
    "api": ("sederunt.cli.roles", "api", "Run the api role alone."),
    "host": ("sederunt.cli.roles", "host", "Run the host role alone: browsers and capture."),
    "worker": ("sederunt.cli.roles", "worker", "Run the worker role alone: assemble, transcribe, deliver, clean."),
    "reload": ("sederunt.cli.reload", "reload", "Replace the roles of a running serve, without a gap."),
    "keys": ("sederunt.cli.keys", "app", "Create, list and revoke API keys."),
    "credentials": ("sederunt.cli.credentials", "app", "Keys of transcription vendors."),
    "accounts": ("sederunt.cli.accounts", "app", "Accounts (tenants), and meeting accounts that bots sign in with."),
    "people": ("sederunt.cli.people", "app", "Let people into the console, see who they are."),
    "bots": ("sederunt.cli.bots", "app", "Send, stop and watch bots; list them, look at them."),
    "backup": ("sederunt.cli.backup", "backup", "Copy the data directory while the service runs."),
    "adopt": ("sederunt.cli.adopt", "adopt", "Take over a database from before version 0.1.0."),
    "mcp": ("sederunt.cli.mcp", "mcp", "Serve a language model's client over standard input and output."),
    "models": ("sederunt.cli.models", "app", "List, pull and verify speech models."),
    "transcribe": ("sederunt.cli.transcribe", "transcribe", "Transcribe a file here and now."),
    "config": ("sederunt.cli.config", "config", "Print the effective settings and where each comes from."),
    "doctor": ("sederunt.cli.doctor", "doctor", "Prove browser, NATS, disk, storage and model with real audio."),
    "status": ("sederunt.cli.status", "status", "Show every process, what its last self-test found, and seats."),
    "practice": ("sederunt.cli.practice", "app", "Open a practice meeting shaped like the real sites."),
    "demo": ("sederunt.cli.demo", "demo", "The main job, end to end, in a practice meeting."),
    "bench": ("sederunt.cli.bench", "app", "Measurements."),
}

ROLES = frozenset({"api", "host", "worker"})
# In these groups `--json` is short for `--format json`.
LISTING = frozenset({"keys", "credentials", "accounts", "people", "bots", "models", "config", "status"})


def main() -> None:
    """Find the command, import its module, and run it."""
    # Before numpy is loaded: its library multiplies small matrices in threads that spin while they wait. Live Whisper
    # took 0.155 CPU-seconds per second of speech with them, 0.083 without, and was not faster.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    harden()
    if sys.argv[1:] == ["--version"]:
        tell(f"sederunt {__version__}")
        return
    names = [argument for argument in sys.argv[1:2] if argument in COMMANDS]
    if names and names[0] in LISTING:
        sys.argv = ["--format=json" if argument == "--json" else argument for argument in sys.argv]
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        help="Self-hosted meeting bots: they join, record and transcribe.",
    )
    for name, (module, attribute, text) in COMMANDS.items():
        if not names or name in names:
            _add(app, name, module, attribute, text, load=bool(names))
    app.callback()(_options)
    if names and names[0] not in ROLES:  # `serve` has printed it for those
        from sederunt.settings import ignored  # not for a plain list of commands

        for sentence in ignored(os.environ):
            tell(f"sederunt: ignored: {sentence}", err=True)
    try:
        _leave(app(standalone_mode=False))
    except SystemExit as exit_error:
        _leave(exit_error.code)
    except typer.Abort:
        _leave("Aborted.")
    except TyperException as error:
        _leave(_explained(error))
    except Exception as error:
        message = sentence_of(error)
        _leave(traceback.format_exc() if message is None else f"sederunt: {plain(message)}")


def _options(
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """Stand in the help: `main` answers `--version` before anything is imported."""


def _explained(error: TyperException) -> int:
    """Print what is wrong with a command line, perhaps made by a script from callers' input; return the exit code."""
    from typer.rich_utils import rich_format_error  # only for wrong command lines

    error.message = plain_lines(error.message)
    rich_format_error(error)  # type: ignore[arg-type]
    return error.exit_code


def _leave(code: str | int | None) -> NoReturn:
    """Exit without finalising the interpreter: the storage client's threads may still call it, which aborts (-6)."""
    if isinstance(code, str):
        tell(code, err=True)
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code or 0)


def _add(app: typer.Typer, name: str, module: str, attribute: str, text: str, *, load: bool) -> None:
    if not load:
        app.command(name, help=text)(lambda: None)
        return
    target = getattr(importlib.import_module(module), attribute)
    if isinstance(target, typer.Typer):
        app.add_typer(target, name=name, help=text)
    else:
        app.command(name, help=text)(target)


if __name__ == "__main__":
    main()
