"""Static pages and scripts of the sites, with the headers that a variant asks for."""

from pathlib import Path

from starlette.responses import FileResponse, Response

from sederunt.practice.script import Variant

_HERE = Path(__file__).parent
_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: https:; media-src 'self' blob:; "
    "connect-src 'self' wss:; worker-src 'self'; frame-src 'self'; form-action 'self' https:; base-uri 'none'"
)
_TRUSTED_TYPES = "; require-trusted-types-for 'script'; trusted-types practice"


def html(service: str, name: str, variant: Variant) -> Response:
    """Return one page of a site under the variant's content security policy."""
    answer = FileResponse(_HERE / service / "page" / name, media_type="text/html")
    answer.headers["cache-control"] = "no-store"
    if variant.csp != "off":
        answer.headers["content-security-policy"] = _POLICY + (_TRUSTED_TYPES if variant.csp == "trusted_types" else "")
    return answer


def static(service: str, name: str) -> Response | None:
    """Return a script, style or picture; `page` are those that all sites share. None when there is no such file."""
    folder = _HERE / "page" if service == "page" else _HERE / service / "page"
    path = folder / name
    if path.parent != folder or path.suffix not in _TYPES or not path.is_file():
        return None
    return FileResponse(path, media_type=_TYPES[path.suffix], headers={"cache-control": "no-store"})
