"""Print errors at the terminal as one sentence instead of a traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from sederunt.cli.terminal import plain, tell
from sederunt.errors import RequestError, SederuntError
from sederunt.log import redact

KEY_REFUSED = (
    "The service does not take this API key: it is unknown, expired or revoked. "
    "`sederunt keys create NAME`, where the service runs, makes another."
)

_MOST_TOLD = 500  # characters of an answer


@contextmanager
def plain_errors(code: int = 1) -> Iterator[None]:
    """Turn a fault of the caller or the machine into a sentence on standard error and an exit code."""
    try:
        yield
    except Exception as error:
        sentence = sentence_of(error)
        if sentence is None:
            raise
        tell(f"Error: {plain(redact(sentence))}", err=True)
        raise typer.Exit(code) from None


def sentence_of(error: BaseException) -> str | None:
    """Return a sentence for an error of ours, a file or a connection; None for a fault of the program."""
    if isinstance(error, RequestError) and error.status == 401:
        return KEY_REFUSED
    if isinstance(error, SederuntError):
        return str(error)
    if isinstance(error, OSError):
        reason = error.strerror or str(error) or type(error).__name__
        return f"{error.filename}: {reason}." if error.filename else f"{reason}."
    if type(error).__module__.partition(".")[0] in ("httpx2", "httpcore2"):
        if (answer := getattr(error, "response", None)) is not None:
            return f"{answer.url} answered with {answer.status_code}: {answer.text[:_MOST_TOLD]}"
        return f"It cannot be reached: {error or type(error).__name__}."
    from sederunt.database.faults import is_away  # imported only if needed

    return f"The database cannot be reached: {str(error).splitlines()[0]}" if is_away(error) else None
