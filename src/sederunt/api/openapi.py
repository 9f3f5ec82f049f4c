"""The OpenAPI document, made from the table of routes, the schemas of requests and the shapes of answers."""

import re
from collections.abc import Collection, Mapping
from functools import cache
from typing import Any

from pydantic.json_schema import models_json_schema

from sederunt import __version__
from sederunt.api.call import MOST_SEGMENTS, SEGMENTS
from sederunt.api.idempotency import HEADER, LONGEST_KEY
from sederunt.api.resources.transcripts import LONGEST_QUESTION
from sederunt.api.route import Route
from sederunt.api.routes import ROUTES
from sederunt.api.schemas.answers import ANSWERS
from sederunt.api.schemas.event_answers import webhook_operations
from sederunt.api.schemas.values import LONGEST_URL
from sederunt.api.sockets.meeting_events import LONGEST_WAIT_S
from sederunt.database.deliveries import DeliveryState
from sederunt.model.status import BotStatus, RecordingStatus
from sederunt.transcripts.export import FORMATS

Document = dict[str, Any]

PREFIX = "/api/v1"

_SENTENCES: Mapping[int, str] = {
    400: "The request is not valid; `errors` names every fault by its field.",
    401: "The key is missing or wrong.",
    403: "The key may not do this, or the limit of bots at work at once is reached.",
    404: "There is nothing with this id.",
    409: "Not possible in the current status, which `message` names.",
    413: "The body is too large.",
    422: "The Idempotency-Key was sent with another request before.",
    429: "Too many requests with this key; see Retry-After.",
    503: "A part of the service cannot be reached right now; see Retry-After.",
}

_QUERY: Mapping[str, Document] = {
    "limit": {"name": "limit", "schema": {"type": "integer", "minimum": 1, "maximum": 200, "default": 50}},
    "cursor": {"name": "cursor", "schema": {"type": "string"}, "description": "`next_cursor` of the page before."},
    "bot-status": {"name": "status", "schema": {"type": "string", "enum": [s.value for s in BotStatus]}},
    "recording-status": {"name": "status", "schema": {"type": "string", "enum": [s.value for s in RecordingStatus]}},
    "recording-source": {
        "name": "source",
        "schema": {"type": "string", "format": "uuid"},
        "description": "Only those that transcribe the sound of this bot or recording anew.",
    },
    "metadata": {
        "name": "metadata",
        "style": "deepObject",
        "explode": True,
        "schema": {"type": "object", "additionalProperties": {"type": "string"}},
        "description": "`metadata[room]=7`: only bots with this pair; may be repeated.",
    },
    "bot-search": {
        "name": "search",
        "schema": {"type": "string", "maxLength": LONGEST_URL, "pattern": r"^[^\u0000]*$"},
        "description": "Only bots with this in their name or their meeting's address.",
    },
    "delivery-state": {"name": "state", "schema": {"type": "string", "enum": [s.value for s in DeliveryState]}},
    "resource_id": {
        "name": "resource_id",
        "schema": {"type": "string", "format": "uuid"},
        "description": "Only those of this bot or recording.",
    },
    "transcript-format": {
        "name": "format",
        "schema": {"type": "string", "enum": ["json", *FORMATS], "default": "json"},
        "description": "JSON, plain text, captions, or minutes in Markdown.",
    },
    "corrected": {
        "name": "corrected",
        "schema": {"type": "boolean", "default": True},
        "description": "False: as it was heard, without corrections.",
    },
    "q": {
        "name": "q",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_QUESTION, "pattern": r"[^\s\u0000]"},
        "description": "Words, begun ones too; words in quotes follow one another.",
        "example": "roadmap friday",
    },
    "search-limit": {"name": "limit", "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}},
    "from": {
        "name": "from",
        "schema": {"type": "string", "format": "date"},
        "description": "The first day, in UTC; absent: the first of the month five months before.",
    },
    "to": {"name": "to", "schema": {"type": "string", "format": "date"}, "description": "The last day; absent: today."},
    "usage-group": {"name": "group", "schema": {"type": "string", "enum": ["month", "day"], "default": "month"}},
    "usage-format": {"name": "format", "schema": {"type": "string", "enum": ["json", "csv"], "default": "json"}},
    "since": {
        "name": "since",
        "schema": {"type": "integer", "minimum": 0, "maximum": 10**18 - 1},
        "description": "`next` of the answer before; absent: everything known so far, as one `connected` event.",
    },
    "wait": {
        "name": "wait",
        "schema": {"type": "integer", "minimum": 0, "maximum": LONGEST_WAIT_S, "default": 0},
        "description": "Seconds to wait where nothing is new.",
    },
    "after-picture": {
        "name": "after",
        "schema": {"type": "integer", "minimum": 0, "maximum": 2**31, "default": 0},
        "description": "`number` of the picture that is known; the next one is waited for, a few seconds at the most.",
    },
    "segments_after": {
        "name": "segments_after",
        "schema": {"type": "integer", "minimum": 0},
        "description": "The transcript page by page: without this many segments at its beginning.",
    },
    "segments_limit": {
        "name": "segments_limit",
        "schema": {"type": "integer", "minimum": 1, "maximum": MOST_SEGMENTS, "default": SEGMENTS},
        "description": "Segments of such a page at most; fewer are the last ones. Without both: the whole transcript.",
    },
    "with-speaker-events": {
        "name": "with-speaker-events",
        "schema": {"type": "boolean", "default": False},
        "description": "Include when each participant spoke.",
    },
}


_IDEMPOTENCY_KEY: Document = {
    "in": "header",
    "name": HEADER,
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[ -~]+$"},
    "description": "A text of your choice: the same request sent again with it makes nothing again, and is answered "
    "as the first time.",
}


_ETAG: Document = {
    "schema": {"type": "string"},
    "description": "Stands for this body; only once the bot or recording has ended.",
}
_IF_NONE_MATCH: Document = {
    "in": "header",
    "name": "If-None-Match",
    "schema": {"type": "string"},
    "description": "The `ETag` of an answer that you have: while it holds, the answer is 304, without a body.",
}


def document() -> Document:
    """Return the whole document, as plain values."""
    paths: dict[str, Document] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Sederunt",
            "version": __version__,
            "license": {"name": "Apache 2.0", "identifier": "Apache-2.0"},
            "description": (
                "Bots that join meetings, record and transcribe; recordings to transcribe. Realtime bots have "
                "WebSockets beside this (`websocket_url` and its like), which this format cannot describe: see "
                "docs/realtime.md."
            ),
        },
        "servers": [{"url": PREFIX}],
        "security": [{"key": []}],
        "paths": paths,
        "webhooks": webhook_operations(),
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": {**ANSWERS, **_request_schemas()},
        },
    }


def _operation(route: Route) -> Document:
    operation: Document = {
        "operationId": route.name,
        "summary": route.summary,
        "tags": [route.tag],
        "responses": _responses(route),
    }
    parameters = [{"in": "query", **_QUERY[name]} for name in route.query]
    for name in path_names(route):
        parameters.append({"in": "path", "name": name, "required": True, "schema": {"type": "string"}})
    if route.once:
        parameters.append(_IDEMPOTENCY_KEY)
    if route.tagged:
        parameters.append(_IF_NONE_MATCH)
    if parameters:
        operation["parameters"] = parameters
    if route.body is not None:
        reference = {"$ref": f"#/components/schemas/{_shape(route)}"}
        schema = {"allOf": [reference], "required": list(route.body.required)} if route.body.required else reference
        contents: Document = {"application/json": {"schema": schema}}
        if route.body.example:
            contents["application/json"]["example"] = dict(route.body.example)
        if route.body.file_field is not None:
            file = {"type": "object", "properties": {route.body.file_field: {"type": "string", "format": "binary"}}}
            contents["multipart/form-data"] = {"schema": {"allOf": [reference, file]}}
        operation["requestBody"] = {"required": True, "content": contents}
    return operation


def _responses(route: Route) -> Document:
    statuses = {401, 403, 429, *route.refusals}
    if route.body is not None:
        statuses |= {400, 413}
    if route.once:
        statuses |= {404, 409, 422}
    if "{id}" in route.path:
        statuses.add(404)
    return {
        "200": {
            "description": "Done.",
            "content": {**_json(route.answer), **{kind: {"schema": {"type": "string"}} for kind in route.media_types}},
            **({"links": {name: _link(name) for name in route.links}} if route.links else {}),
            **({"headers": {"ETag": _ETAG}} if route.tagged else {}),
        },
        **({"304": {"description": "The answer that `If-None-Match` names still holds."}} if route.tagged else {}),
        **{
            str(status): {
                "description": _SENTENCES[status],
                "content": _json("InvalidRequest" if status == 400 else "Refusal"),
            }
            for status in sorted(statuses)
        },
    }


def path_names(route: Route) -> list[str]:
    """Return the names in braces in a route's path."""
    return re.findall(r"{(\w+)}", route.path)


def _link(operation: str) -> Document:
    """Return a link that passes the id of a new resource on to another operation."""
    return {"operationId": operation, "parameters": {"id": "$response.body#/id"}}


def _json(name: str) -> Document:
    return {"application/json": {"schema": {"$ref": f"#/components/schemas/{name}"}}}


def _shape(route: Route) -> str:
    """Return the name of a request's schema. A PATCH has its own, because its fields have no defaults."""
    assert route.body is not None
    name = route.body.model.__name__
    return f"{name.removesuffix('Fields')}Changes" if route.method == "PATCH" else name


@cache
def _request_schemas() -> dict[str, Document]:
    routes = {_shape(route): route for route in ROUTES if route.body is not None}
    bodies = {name: route.body for name, route in routes.items() if route.body is not None}
    models = sorted({body.model for body in bodies.values()}, key=lambda model: model.__name__)
    _, definitions = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    schemas: dict[str, Document] = definitions["$defs"]
    own_schemas = {
        name: _without_defaults(schemas[body.model.__name__], None if name.endswith("Changes") else body.required)
        for name, body in bodies.items()
    }
    patch_only = {body.model.__name__ for body in bodies.values()} - set(bodies)
    return {name: schema for name, schema in {**schemas, **own_schemas}.items() if name not in patch_only}


def _without_defaults(schema: Document, names: Collection[str] | None) -> Document:
    """Return the schema without defaults that are only internal: null, and those of the named fields (None: of all)."""
    properties = {
        name: {
            key: value
            for key, value in field.items()
            if key != "default" or not (value is None or names is None or name in names)
        }
        for name, field in schema["properties"].items()
    }
    return {**schema, "properties": properties}
