"""The fields of requests about an account: keys, credentials, meeting accounts, webhooks, corrections."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from sederunt.accounts.keys import Scope
from sederunt.api.schemas import values as v
from sederunt.api.schemas.requests import Body
from sederunt.database.deliveries import DeliveryState
from sederunt.model.correction import CorrectionKind
from sederunt.model.window_input import MOST_INPUTS, MOST_PARTS, MOST_PIXELS, MOST_TEXT, WindowInput
from sederunt.platforms.registry import services_taking
from sederunt.platforms.sign_in_pages import AccountKind
from sederunt.transcription.models import providers

KEYED_PROVIDERS = tuple(name for name, row in providers().items() if row.needs_key)
LONGEST_OVERLAP_H = 168

_Name = Annotated[str, *v.text(200)]
_Secret = Annotated[str, *v.text(4096)]
_Place = Annotated[int, *v.integer(0, 1_000_000)]


def _scopes_of(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise v.refusal("must be a list of scopes, one at least")
    words = [v.one_of(tuple(Scope))(word) for word in value]
    return tuple(scope for scope in Scope if scope in words)


def _state_of(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or not isinstance(value.get("cookies"), list):
        raise v.refusal("must be a browser's storage state: an object with `cookies`")
    return value


def _inputs_of(value: object) -> tuple[Sequence[object], ...]:
    if not isinstance(value, list) or len(value) > MOST_INPUTS:
        raise v.refusal(f"must be a list of up to {MOST_INPUTS} inputs")
    names = tuple(WindowInput)
    if not all(
        isinstance(entry, list) and 0 < len(entry) <= MOST_PARTS and entry[0] in names and all(map(_is_argument, entry))
        for entry in value
    ):
        raise v.refusal(f"must be a list of lists, each one of {', '.join(WindowInput)} with its arguments")
    return tuple(value)


def _is_argument(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= MOST_TEXT
    return isinstance(value, int | float) and -MOST_PIXELS <= value <= MOST_PIXELS


_Inputs = Annotated[
    tuple[Sequence[object], ...],
    PlainValidator(_inputs_of),
    WithJsonSchema(
        {
            "type": "array",
            "maxItems": MOST_INPUTS,
            "items": {
                "type": "array",
                "minItems": 1,
                "prefixItems": [{"type": "string", "enum": list(WindowInput)}],
                "maxItems": MOST_PARTS,
                "items": {
                    "anyOf": [
                        {"type": "string", "maxLength": MOST_TEXT},
                        {"type": "number", "minimum": -MOST_PIXELS, "maximum": MOST_PIXELS},
                    ]
                },
            },
        }
    ),
]
_Scopes = Annotated[
    tuple[str, ...],
    PlainValidator(_scopes_of),
    WithJsonSchema({"type": "array", "minItems": 1, "items": {"type": "string", "enum": list(Scope)}}),
]
_State = Annotated[
    Mapping[str, Any],
    PlainValidator(_state_of),
    WithJsonSchema({"type": "object", "properties": {"cookies": {"type": "array"}}, "required": ["cookies"]}),
]


class KeyFields(Body):
    """A new API key."""

    REQUIRED = ("name",)

    name: _Name = Field("", description="What it is for; shown in lists.")
    scopes: _Scopes | None = Field(None, description="What it may do; absent: everything.")
    expires_in_days: Annotated[int, *v.integer(1, 3650)] | None = Field(None, description="Absent: it does not expire.")


class CredentialFields(Body):
    """A key at a transcription vendor."""

    REQUIRED = ("provider", "key")

    provider: Annotated[str, *v.word(KEYED_PROVIDERS)] = Field("", description="The vendor.")
    key: _Secret = Field("", description="The vendor's key. It is sealed, and never shown again.")
    region: _Name | None = Field(None, description="Where the vendor has several.")
    organisation: _Name | None = Field(None, description="Where the vendor wants one (Salad).")
    check: v.Flag = Field(False, description="Ask the vendor first: a key that it rejects is not kept.")


class MeetingAccountFields(Body):
    """An account that bots sign in with."""

    REQUIRED = ("service", "email")

    service: Annotated[str, *v.word(services_taking(AccountKind.SESSION))] = Field("", description="Where it belongs.")
    email: Annotated[str, *v.text(320)] = Field("", description="The address it signs in with.")
    password: _Secret | None = Field(None, description="Its password; needed where no `state` is given.")
    state: _State | None = Field(None, description="The storage state of a browser that is signed in.")


class SignInWindowFields(Body):
    """A browser in which an account is signed in by hand."""

    REQUIRED = ("service", "email")

    service: Annotated[str, *v.word(services_taking(AccountKind.SESSION))] = Field("", description="Where it belongs.")
    email: Annotated[str, *v.text(320)] = Field("", description="The address it signs in with.")


class SignInInputFields(Body):
    """What a person did in a sign-in window."""

    REQUIRED = ("inputs",)

    inputs: _Inputs = Field(
        (),
        description="In order, each a name and its arguments. `move` takes shares of width and height, `down` and `up` "
        "the button (0, 1, 2) and clicks, `wheel` pixels, `press` and `release` a key, `type` a text, `size` pixels.",
    )
    page: Annotated[int | None, *v.integer_or_null(0, 2**31)] = Field(
        None,
        description="The `page` of the picture that they are meant for: what comes after the window has moved on is "
        "passed over. Null: that of the last picture.",
    )


class SignInKeepFields(Body):
    """The end of a sign-in window."""

    anyway: v.Flag = Field(False, description="Keep it, too, where the site seems to have signed nobody in.")


class RotationFields(Body):
    """A new secret, or a new key, in place of one that works on for a while."""

    overlap_hours: Annotated[int, *v.integer_or_null(0, LONGEST_OVERLAP_H)] = Field(
        24, description="For so long the old one holds, too."
    )


class ReplayFields(Body):
    """Deliveries to send once more."""

    REQUIRED = ("since",)

    since: v.MomentOrNull = Field(
        0, description="Those created then or later: Unix seconds, or milliseconds above 10^11."
    )
    state: Annotated[str, *v.word(tuple(DeliveryState))] = Field("given_up", description="Those in this state.")


class WebhookTestFields(Body):
    """A receiver to try."""

    REQUIRED = ("webhook_url",)

    webhook_url: v.Url = Field("", description="Where to send a `test`.")


class CorrectionFields(Body):
    """Something to be put right in a transcript."""

    REQUIRED = ("kind", "after")

    kind: Annotated[str, *v.word(tuple(CorrectionKind))] = Field("word", description="What is wrong.")
    segment: _Place | None = Field(None, description="Of a `word` or a `speaker`: which segment, from 0.")
    word: _Place | None = Field(None, description="Of a `word`: which one of the segment's, from 0.")
    before: _Name | None = Field(None, description="Of a `participant`: the name that is wrong.")
    after: _Name = Field("", description="What belongs there.")
