"""Building blocks of the schemas of answers."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

Schema = dict[str, Any]


def object_of(properties: Mapping[str, Schema], *, optional: tuple[str, ...] = (), description: str = "") -> Schema:
    """Return an object schema; all properties are required except the optional ones."""
    required_names = [name for name in properties if name not in optional]
    return {
        "type": "object",
        "properties": dict(properties),
        "required": required_names,
        **({"description": description} if description else {}),
    }


def ref(name: str) -> Schema:
    """Return a reference to another schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def words_of(words: type[StrEnum]) -> Schema:
    return {"type": "string", "enum": [word.value for word in words]}


def just(word: str) -> Schema:
    """Return a schema for a constant word."""
    return {"type": "string", "const": word}


def one_of(field: str, names: Mapping[str, str]) -> Schema:
    """Return a schema for one of several schemas, distinguished by a field's value."""
    refs = {word: ref(name) for word, name in names.items()}
    mapping = {word: schema["$ref"] for word, schema in refs.items()}
    return {"oneOf": [*refs.values()], "discriminator": {"propertyName": field, "mapping": mapping}}


TEXT: Schema = {"type": "string"}
URI: Schema = {"type": "string", "format": "uri"}
TIME: Schema = {"type": "string", "format": "date-time"}
ID: Schema = {"type": "string", "format": "uuid"}
NUMBER: Schema = {"type": "number"}
INTEGER: Schema = {"type": "integer"}
FLAG: Schema = {"type": "boolean"}
