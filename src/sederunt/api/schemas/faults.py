"""Convert pydantic's errors to ours: all faults of a request at once, {field: [sentence, …]}, nested ones with dots."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from sederunt.api.schemas.requests import Body
from sederunt.errors import InvalidConfig

M = TypeVar("M", bound=Body)
Faults = dict[str, list[str]]

# pydantic's own error types that a request can cause → predicate. `values` has all other predicates.
_PREDICATES: Mapping[str, str] = {"missing": "is required", "model_type": "must be an object"}
BODY = "body"  # the field name for faults of the whole body


@dataclass(frozen=True, slots=True)
class Read(Generic[M]):
    """A validated body: the valid fields, and the faults of the others."""

    fields: M
    faults: Faults


def read(model: type[M], body: object, *, partial: bool = False) -> Read[M]:
    """Validate a parsed body. Faulty fields keep their default, so that the others can be checked further.

    Args:
        partial: whether fields that the model requires may be missing, as in a PATCH.
    """
    if not isinstance(body, Mapping):
        return Read(model(), {BODY: ["The body must be a JSON object."]})
    required_names = () if partial else model.REQUIRED
    faults: Faults = {name: [_sentence(name, "is required")] for name in required_names if body.get(name) is None}
    body = {name: value for name, value in model.what_counts(body).items() if name not in faults}
    try:
        fields = model.model_validate(body)
    except ValidationError as error:
        value_faults = _faults_of(error)
        faulty_names = {name.partition(".")[0] for name in value_faults}
        fields = model.model_validate({name: value for name, value in body.items() if name not in faulty_names})
        faults |= value_faults
    return Read(fields, in_order(model, faults))


def valid(model: type[M], body: object) -> M:
    """Return a body's fields. Raises InvalidConfig with all faults at once."""
    result = read(model, body)
    if result.faults:
        raise InvalidConfig(result.faults)
    return result.fields


def add(faults: Faults, name: str, sentence: str) -> None:
    """Add a fault, after earlier faults of the same field."""
    faults.setdefault(name, []).append(sentence)


def _faults_of(error: ValidationError) -> Faults:
    faults: Faults = {}
    for finding in error.errors(include_url=False, include_input=False):
        name = ".".join(str(part) for part in finding["loc"])
        default = _PREDICATES.get(finding["type"], "is not valid")
        predicate = str(finding["ctx"]["predicate"]) if finding["type"] == "refused" else default
        add(faults, name, _sentence(name, predicate))
    return faults


def _sentence(name: str, predicate: str) -> str:
    return f"{name} {predicate}."


def in_order(model: type[BaseModel], faults: Faults) -> Faults:
    """Sort faults in the order of the fields, so that `message` is about the first faulty field."""
    places = {field.alias or name: place for place, (name, field) in enumerate(model.model_fields.items())}
    last = len(places)
    return dict(sorted(faults.items(), key=lambda fault: places.get(fault[0].partition(".")[0], last)))
