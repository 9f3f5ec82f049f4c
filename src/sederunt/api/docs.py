"""The documentation page at /docs: the OpenAPI document as one HTML page that loads nothing from elsewhere."""

import json
from functools import cache
from html import escape
from typing import Any

from sederunt.api.openapi import PREFIX, document

DOCS_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"
_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8886; } h3 { font-size: 1rem; margin-bottom: .2rem; }
code { font: 13px ui-monospace, monospace; } .method { display: inline-block; width: 4.5rem; font-weight: 700; }
table { border-collapse: collapse; width: 100%; } td, th { overflow-wrap: anywhere;
text-align: left; vertical-align: top; padding: .15rem .6rem
.15rem 0; border-bottom: 1px solid #8883; } summary { cursor: pointer; }
"""


@cache
def docs_page() -> str:
    """Return the page, made once: the document does not change while the process runs."""
    openapi = document()
    tags: dict[str, list[str]] = {}
    for path, operations in openapi["paths"].items():
        for method, operation in operations.items():
            tags.setdefault(operation["tags"][0], []).append(_operation(method, path, operation))
    sections = "".join(f"<h2>{escape(tag)}</h2>{''.join(parts)}" for tag, parts in tags.items())
    schemas = "".join(_schema(name, schema) for name, schema in sorted(openapi["components"]["schemas"].items()))
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8>"
        f"<meta name=viewport content='width=device-width, initial-scale=1'><title>Sederunt</title>"
        f"<style>{_STYLE}</style>"
        f"<h1>Sederunt</h1><p>{escape(openapi['info']['description'])} All paths are below <code>{PREFIX}</code>; "
        f"every request carries <code>Authorization: Bearer &lt;key&gt;</code>. The same as a document: "
        f"<a href='{PREFIX}/openapi.json'>openapi.json</a>.</p>{sections}<h2>Shapes</h2>{schemas}</html>"
    )


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    rows = [
        (f"query <code>{escape(p['name'])}</code>", f"{_kind(p['schema'])} {_prose(p.get('description', ''))}")
        for p in operation.get("parameters", ())
        if p["in"] == "query"
    ]
    if "requestBody" in operation:
        for kind, content in operation["requestBody"]["content"].items():
            rows.append((f"body <code>{escape(kind)}</code>", _kind(content["schema"]) + _required(content["schema"])))
    for status, answer in operation["responses"].items():
        shape = _kind(answer["content"]["application/json"]["schema"]) if "content" in answer else "no body"
        rows.append((status, f"{_prose(answer['description'])} {shape}"))
    table = "".join(f"<tr><td>{name}</td><td>{text}</td></tr>" for name, text in rows)
    return (
        f"<details><summary><span class=method>{method.upper()}</span><code>{escape(path)}</code> "
        f"{escape(operation['summary'])}</summary><table>{table}</table></details>"
    )


def _schema(name: str, schema: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(field)}</code></td><td>{_kind(value)}{_default(value)}</td>"
        f"<td>{_prose(value.get('description', ''))}</td></tr>"
        for field, value in schema.get("properties", {}).items()
    )
    body = f"<table>{rows}</table>" if rows else f"<p>{_kind(schema)}</p>"
    description = _prose(schema.get("description", ""))
    return f"<h3 id='{escape(name)}'><code>{escape(name)}</code></h3><p>{description}</p>{body}"


def _prose(text: str) -> str:
    """Return a text as HTML, with `code` marked up."""
    parts = escape(text).split("`")
    return "".join(f"<code>{part}</code>" if place % 2 else part for place, part in enumerate(parts))


def _required(schema: dict[str, Any]) -> str:
    names = ", ".join(f"<code>{escape(name)}</code>" for name in schema.get("required", ()))
    return f"; required: {names}" if names else ""


def _default(schema: dict[str, Any]) -> str:
    value = schema.get("default")
    return f", default <code>{escape(json.dumps(value))}</code>" if value not in (None, "") else ""


def _kind(schema: dict[str, Any]) -> str:
    """Return a short description of a schema."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rsplit("/", 1)[1])
        return f"<a href='#{name}'>{name}</a>"
    for key, separator in (("anyOf", " or "), ("oneOf", " or "), ("allOf", " and ")):
        if key in schema:
            return separator.join(_kind(part) for part in schema[key])
    if "const" in schema:
        return f"<code>{escape(schema['const'])}</code>"
    if "enum" in schema:
        return ", ".join(f"<code>{escape(str(word))}</code>" for word in schema["enum"])
    if schema.get("type") == "array":
        return f"array of {_kind(schema['items'])}"
    limits = [f"{name} {schema[name]}" for name in ("minimum", "maximum", "maxLength", "maxItems") if name in schema]
    return escape(" ".join([str(schema.get("type", "any")), schema.get("format", ""), *limits]).strip())
