"""Structured logs: one JSON object (or one coloured line) per past-tense event, secrets removed."""

import logging
import re
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from typing import Any, Literal, TextIO, cast

from sederunt.log_output import LogOutput
from sederunt.terminal import plain, plain_lines


@contextmanager
def _hidden(name: str) -> Iterator[None]:
    """Make a module look uninstalled while the block runs."""
    module = sys.modules.get(name)
    sys.modules[name] = None  # type: ignore[assignment]  # Python's own marker for it
    try:
        yield
    finally:
        del sys.modules[name]
        if module is not None:
            sys.modules[name] = module


with _hidden("rich"):  # 4 MB in every process, for a format of tracebacks that is not used here
    import structlog

# Values with these names, and texts that look like one of our keys or a signed query, never reach a log.
SECRET_FIELDS = frozenset({"authorization", "key", "token", "secret", "password", "zoom_zak_token", "signature"})
# After this word PostgreSQL repeats the refused row, on as many lines as its values have.
_REFUSED_ROW = re.compile(r"DETAIL:.*?(?=\n\[SQL|\n\(Background|\nTraceback|\n\nThe above|\Z)", re.DOTALL)
_USER_OF_URL = re.compile(r"://[^/\s@\"']*:[^/\s@\"']+@")
_SECRET_VALUES = re.compile(r"sk_[A-Za-z0-9_-]{8,}|((?:token|signature|secret|key|zak|pwd)=)[^&\s\"']+")


def redact(text: str) -> str:
    """Return the text without keys, without the values of secret query parameters, and without a refused row."""
    if "://" in text:
        text = _USER_OF_URL.sub("://***@", text)
    if "=" in text or "sk_" in text:
        text = _SECRET_VALUES.sub(lambda match: (match.group(1) or "") + "***", text)
    return _REFUSED_ROW.sub("DETAIL: ***", text) if "DETAIL:" in text else text


def _without_secrets(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        event[name] = _shown(name, value)
    return event


def _shown(name: str, value: Any) -> Any:
    if name.lower() in SECRET_FIELDS:
        return "***"
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {key: _shown(str(key), inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_shown("", inner) for inner in value]
    return value


def _harmless(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Escape terminal controls in texts; other values are printed by repr, which escapes them too."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = plain_lines(value) if name == "exception" else plain(value)
    return event


def mark_reported(error: BaseException) -> None:
    """Have every later log line about this error dropped: the caller has logged it."""
    error._is_reported = True  # type: ignore[attr-defined]  # errors of all kinds, ours or not


def _unreported(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Drop a line about an error that is marked, or has a marked cause."""
    exc_info = event.get("exc_info")
    error = sys.exc_info()[1] if exc_info is True else exc_info
    while isinstance(error, BaseException):
        if getattr(error, "_is_reported", False):
            raise structlog.DropEvent
        error = error.__cause__
    return event


def configure(style: Literal["json", "lines"] = "json", level: str = "info") -> None:
    """Set up structlog for this process. Logs go to standard error; standard output belongs to the caller."""
    renderers: list[structlog.typing.Processor] = (
        [structlog.processors.JSONRenderer()] if style == "json" else [_harmless, structlog.dev.ConsoleRenderer()]
    )
    structlog.configure(
        processors=[
            _unreported,
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _without_secrets,
            *renderers,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        # It only writes and flushes.
        logger_factory=structlog.WriteLoggerFactory(cast(TextIO, output())),
        cache_logger_on_first_use=True,
    )


@cache
def _output_to(stream: TextIO) -> LogOutput:
    return LogOutput(stream)


def output() -> LogOutput:
    """Return this process's log output: one for all, since it counts lost lines."""
    return _output_to(sys.stderr)


def get(**context: object) -> structlog.stdlib.BoundLogger:
    """Return a logger with these ids on every line."""
    logger: structlog.stdlib.BoundLogger = structlog.get_logger(**context)
    return logger


def bind(**context: object) -> None:
    """Add these fields to every later line of this process."""
    structlog.contextvars.bind_contextvars(**context)


def bound(**context: object) -> AbstractContextManager[None]:
    """Add these fields to every line within the block."""
    return structlog.contextvars.bound_contextvars(**context)
