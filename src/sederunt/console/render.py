"""Render pages from templates, with the headers that isolate them."""

import hashlib
import json
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import Response

from sederunt import __version__
from sederunt.api.schemas.values import address_in
from sederunt.model.bot import Service
from sederunt.platforms.registry import installed
from sederunt.transcripts.export import clock

HERE = Path(__file__).parent
ASSETS = HERE / "assets"


def page_response(template: str, values: Mapping[str, Any], status: int = 200, *, media: str = "'self'") -> Response:
    """Answer with a template as a page, which loads nothing from elsewhere and runs nothing inline; styles need its
    nonce.

    Args:
        media: the origins of recordings: this site, or the bucket that we redirect to.
    """
    nonce = secrets.token_urlsafe(12)
    text = environment().get_template(template).render(values, nonce=nonce)
    return Response(text, status, headers=_headers(nonce, media), media_type="text/html")


def _headers(nonce: str, media: str) -> dict[str, str]:
    policy = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": f"'self' 'nonce-{nonce}'",
        "img-src": "'self' data: blob:",
        "connect-src": "'self'",
        "media-src": f"{media} blob:",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }
    return {
        "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in policy.items()),
        "Cache-Control": "no-store",
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Opener-Policy": "same-origin",
    }


@lru_cache(maxsize=1)
def environment() -> Environment:
    """Return the templates' environment, which escapes every value from the database."""
    templates = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        address_in=address_in,
        clock=clock,
        moment=_moment,
        words=_words,
        number=_number,
        initials=_initials,
        data=_data,
        short=_short,
        service_title=_service_title,
        service_hosts=_service_hosts,
    )
    templates.globals.update(asset=asset_address, version=__version__)
    return templates


@lru_cache(maxsize=1)
def assets_version() -> str:
    """Return a version that changes with any asset, so that browsers may keep them for ever."""
    digest = hashlib.sha256()
    for path in sorted(ASSETS.rglob("*")):
        if path.is_file():
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def asset_address(name: str) -> str:
    """Return the address of a file of `assets`: one folder for all, as modules import each other by relative paths."""
    return f"/assets/{assets_version()}/{name}"


def _moment(value: datetime | None) -> str:
    """Return the time for a <time>: the script converts it to the reader's zone."""
    return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z") if value else ""


def _words(identifier: object) -> str:
    """not_admitted → Not admitted."""
    text = str(identifier).replace("_", " ").replace("-", " ").replace(" url", " URL")
    return text[:1].upper() + text[1:]


def _number(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else f"{value:,}"


def _initials(name: str) -> str:
    words = [word for word in name.split() if word]
    return "".join(word[0] for word in (words[:1] + words[1:][-1:]))[:2].upper() or "?"


def _short(text: str, most: int = 60) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _service_title(service: Service) -> str:
    """Return a service's title; its name for old bots of a platform that is no longer installed."""
    platform = installed().get(service)
    return platform.title if platform else service


def _service_hosts(service: Service) -> str:
    """Return the hosts of a service's site, by which a script recognises links; none for an uninstalled platform."""
    platform = installed().get(service)
    origins = platform.origins if platform else ()
    return " ".join((urlsplit(origin).hostname or "").removeprefix("www.") for origin in origins)


def _data(value: object) -> str:
    """Return JSON for a data attribute; the template escapes it."""
    return json.dumps(value, separators=(",", ":"), default=str)
