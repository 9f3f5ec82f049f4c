"""The types of values in requests. A refusal is a predicate, so that a fault reads "<field> <predicate>."

Nothing is coerced: "5" is no integer and 1 is no boolean. The one exception is JSON's own: 5.0 is the number 5.
Each type has its JSON schema, which the OpenAPI document shows.
"""

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import PlainValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from sederunt import addresses
from sederunt.model.budgets import count_of

LONGEST_URL = 8192
LONGEST_TEXT = 10_000
METADATA_KEYS, METADATA_CHARACTERS = count_of("metadata_keys"), count_of("metadata_value")
METADATA_NAME_CHARACTERS = count_of("metadata_name")
VOCABULARY_ENTRIES, VOCABULARY_CHARACTERS = 1000, 100
AVATAR_BYTES = 5_000_000

# Unix times above this are milliseconds: as seconds they would lie beyond the year 5138.
MILLISECONDS_FROM = 10**11
LATEST_MILLISECONDS = 253_402_214_399_999  # a day before the year 10000, so that a meeting ends before it

# First bytes of accepted pictures → media type.
_PICTURES: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png"),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg"),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp"),
)
_DATA_URI = re.compile(r"data:[^,]{0,100};base64,", re.IGNORECASE)
_LANGUAGE = r"^(?:multi|auto|[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3})$"
_NOT_IN_URLS = re.compile(r"[\x00-\x20\x7f-\xa0\s<>\"\\^`{|}\u2028\u2029]")
# Characters of addresses that a tool has percent-decoded: some meeting links contain JSON.
_TO_ENCODE = re.compile(r"[\"^`{|}]")
_UNSEEN = re.compile(r"[\u200b-\u200d\u2060\ufeff]")
_MEETING_IN_WORDS = re.compile(r"meeting\s*id\W*(?:\d\W?){12,16}\s*pass(?:code|word)", re.IGNORECASE)
_ADDRESS_IN_TEXT = re.compile(r"(?<![^\s<(\[\"'“])https?://[^\s<>“”]+", re.IGNORECASE)
_BARE_ADDRESS = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}/\S+", re.IGNORECASE)
_AROUND_ADDRESSES = ".,;:!?'’\")]}>*"
_OPENED_BY = {")": "(", "]": "[", "}": "{"}
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


def refusal(predicate: str) -> PydanticCustomError:
    """Return the error for a type to raise; `predicate` follows the field's name in the sentence."""
    # Braces in the template itself would be taken for placeholders.
    return PydanticCustomError("refused", "{predicate}", {"predicate": predicate})


def text_of(value: object, *, most: int) -> str:
    """Return a string that all parts of the service can handle: no NUL, no lone surrogate, not blank."""
    text = _string(value)
    if not text.strip():
        raise refusal("must not be empty")
    if len(text) > most:
        raise refusal(f"must not be longer than {most:,} characters")
    return text


def _string(value: object) -> str:
    if not isinstance(value, str):
        raise refusal("must be a string")
    if "\x00" in value:
        raise refusal("must not contain NUL characters")
    try:
        value.encode()  # a picture has millions of characters: a loop over them takes half a second
    except UnicodeEncodeError:
        raise refusal("must be valid Unicode") from None
    return value


def url_of(value: object) -> str:
    """Return an absolute http or https address, as it was sent."""
    text = text_of(value, most=LONGEST_URL)
    if addresses.refusal(text, allow_private=True) or _NOT_IN_URLS.search(text):
        raise refusal("must be an absolute URL that begins with http:// or https://")
    return text


def meeting_url_of(value: object) -> str:
    """Return a meeting's address as it was sent: an absolute URL, a text that contains one, such as an invitation, or
    the meeting number and passcode of an invitation in words.

    The surrounding text may contain a passcode, so it is kept for the link parser.
    """
    text = text_of(value, most=LONGEST_URL)
    if _CONTROLS.search(text):
        return url_of(text)
    if _MEETING_IN_WORDS.match(text.strip()):
        return text
    for address in _addresses_in(text) or [text]:
        url_of(address)
    return text


def address_in(meeting_url: str) -> str:
    """Return the address in a text that `meeting_url_of` accepted."""
    if meeting_url.lower().startswith(("http://", "https://")) and not _NOT_IN_URLS.search(meeting_url):
        return meeting_url
    return next(iter(_addresses_in(meeting_url)), meeting_url)


def _addresses_in(text: str) -> list[str]:
    """Return the addresses in a text; characters that a tool decoded are percent-encoded again."""
    text = _UNSEEN.sub("", text)
    if _BARE_ADDRESS.fullmatch(text.strip()):
        text = f"https://{text.strip()}"
    candidates = (_without_marks_behind(_until_quote(match)) for match in _ADDRESS_IN_TEXT.findall(text))
    return [_TO_ENCODE.sub(lambda mark: f"%{ord(mark[0]):02X}", address) for address in candidates]


def _until_quote(address: str) -> str:
    """Return an address up to a quotation mark outside of braces; marks within braces belong to JSON in the address."""
    depth = 0
    for place, mark in enumerate(address):
        if mark == '"' and depth <= 0:
            return address[:place]
        depth += (mark == "{") - (mark == "}")
    return address


def _without_marks_behind(address: str) -> str:
    """Return an address without trailing punctuation of the surrounding text, which closes nothing in the address."""
    while address and (mark := address[-1]) in _AROUND_ADDRESSES:
        openings = address.count(_OPENED_BY[mark]) if mark in _OPENED_BY else 0
        is_its_own = openings >= address.count(mark) if openings else mark in "\"'" and address.count(mark) % 2 == 0
        if is_its_own:
            break
        address = address[:-1]
    return address


def uuid_of(value: object) -> UUID:
    text = _string(value)
    if not _UUID.fullmatch(text):
        raise refusal("must be a UUID")
    return UUID(text)


def flag_of(value: object) -> bool:
    if not isinstance(value, bool):
        raise refusal("must be true or false")
    return value


def integer_of(value: object, *, least: int | None = None, most: int | None = None) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise refusal("must be an integer")
    if least is not None and most is not None and not least <= value <= most:
        raise refusal(f"must be between {least} and {most}")
    if least is not None and value < least:
        raise refusal(f"must be at least {least}")
    if most is not None and value > most:
        raise refusal(f"must be at most {most}")
    return value


def language_of(value: object) -> str:
    text = _string(value)
    if not re.fullmatch(_LANGUAGE, text):
        raise refusal("must be a language tag such as 'en' or 'pt-BR', or 'multi', or 'auto'")
    return text


def metadata_of(value: object) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise refusal("must be an object with string values")
    if len(value) > METADATA_KEYS:
        raise refusal(f"must not have more than {METADATA_KEYS} keys")
    for name, entry in value.items():
        _string(name)
        if len(name) > METADATA_NAME_CHARACTERS:
            raise refusal(f"must have keys of at most {METADATA_NAME_CHARACTERS} characters; '{name[:40]}…' is longer")
        if not isinstance(entry, str):
            raise refusal(f"must have string values only; that of '{name[:100]}' is no string")
        _string(entry)
        if len(entry) > METADATA_CHARACTERS:
            raise refusal(f"must have values of at most {METADATA_CHARACTERS} characters; '{name[:100]}' is longer")
    return dict(value)


def vocabulary_of(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise refusal("must be an array of strings")
    if len(value) > VOCABULARY_ENTRIES:
        raise refusal(f"must not have more than {VOCABULARY_ENTRIES:,} entries")
    for place, entry in enumerate(value):
        if not isinstance(entry, str):
            raise refusal(f"must be an array of strings; entry {place} is no string")
        _string(entry)
        if not entry.strip() or len(entry) > VOCABULARY_CHARACTERS:
            fault = "longer" if entry.strip() else "empty"
            raise refusal(f"must have entries of 1 to {VOCABULARY_CHARACTERS} characters; entry {place} is {fault}")
    return tuple(value)


def picture_of(value: object) -> bytes | None:
    """Return a picture from base64, with or without a data URI. {} counts as absent: see the interface notes."""
    if value is None or value == {}:
        return None
    text = _string(value)
    if prefix := _DATA_URI.match(text):
        text = text[prefix.end() :]
    text = "".join(text.split())
    if len(text) * 3 // 4 > AVATAR_BYTES + 2:
        raise refusal("must not be larger than 5 MB")
    data = base64_bytes(text)
    if len(data) > AVATAR_BYTES:
        raise refusal("must not be larger than 5 MB")
    if picture_type(data) is None:
        raise refusal("must be a PNG, JPEG or WebP image in base64")
    return data


def base64_bytes(text: str) -> bytes:
    """Decode base64 in either alphabet, with or without padding."""
    text = text.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise refusal("must be base64") from None


def picture_type(data: bytes) -> str | None:
    """Return the media type of an accepted picture, by its first bytes."""
    return next((kind for start, kind in _PICTURES if start.match(data)), None)


def one_of(names: tuple[str, ...], suggestions: tuple[str, ...] = ()) -> Callable[[object], str]:
    """Return a reader of one of these words; its refusal lists only `suggestions`, if there are any."""

    def read(value: object) -> str:
        text = _string(value)
        if text not in names:
            raise refusal(f"must be one of: {', '.join(suggestions or names)}")
        return text

    return read


def _type(read: Callable[[object], Any], schema: dict[str, Any]) -> tuple[PlainValidator, WithJsonSchema]:
    return PlainValidator(read), WithJsonSchema(schema)


def text(most: int = LONGEST_TEXT) -> tuple[PlainValidator, WithJsonSchema]:
    """Return the annotations of a string of 1 to `most` characters."""
    schema = {"type": "string", "minLength": 1, "maxLength": most, "pattern": r"^[^\u0000]*[^\s\u0000][^\u0000]*$"}
    return _type(lambda value: text_of(value, most=most), schema)


def integer(least: int | None = None, most: int | None = None) -> tuple[PlainValidator, WithJsonSchema]:
    """Return the annotations of an integer within limits."""
    limits = {"minimum": least, "maximum": most}
    schema = {"type": "integer", **{name: limit for name, limit in limits.items() if limit is not None}}
    return _type(lambda value: integer_of(value, least=least, most=most), schema)


def integer_or_null(least: int | None = None, most: int | None = None) -> tuple[PlainValidator, WithJsonSchema]:
    """Return the annotations of an integer within limits, or null: see `schemas.Body`."""
    read, schema = integer(least, most)
    return read, WithJsonSchema({"anyOf": [schema.json_schema, {"type": "null"}]})


def word(names: tuple[str, ...], suggestions: tuple[str, ...] = ()) -> tuple[PlainValidator, WithJsonSchema]:
    """Return the annotations of one of these words; see `one_of` for `suggestions`."""
    return _type(one_of(names, suggestions), {"type": "string", "enum": list(names)})


def words(
    names: tuple[str, ...], most: int, suggestions: tuple[str, ...] = ()
) -> tuple[PlainValidator, WithJsonSchema]:
    """Return the annotations of a list of up to `most` of these words; see `one_of` for `suggestions`."""
    read_word = one_of(names, suggestions)

    def read(value: object) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise refusal("must be an array of strings")
        if len(value) > most:
            raise refusal(f"must not have more than {most} entries")
        return tuple(read_word(entry) for entry in value)

    return _type(read, {"type": "array", "maxItems": most, "items": {"type": "string", "enum": list(names)}})


Url = Annotated[str, *_type(url_of, {"type": "string", "format": "uri", "maxLength": LONGEST_URL})]
MeetingUrl = Annotated[
    str, *_type(meeting_url_of, {"type": "string", "format": "uri", "minLength": 1, "maxLength": LONGEST_URL})
]
Id = Annotated[UUID, *_type(uuid_of, {"type": "string", "format": "uuid"})]
Flag = Annotated[bool, *_type(flag_of, {"anyOf": [{"type": "boolean"}, {"type": "null"}]})]  # null: see `schemas.Body`
Language = Annotated[str, *_type(language_of, {"type": "string", "pattern": _LANGUAGE})]
Moment = Annotated[int, *integer(most=LATEST_MILLISECONDS)]
MomentOrNull = Annotated[int, *integer_or_null(most=LATEST_MILLISECONDS)]
Picture = Annotated[
    bytes | None,
    *_type(
        picture_of,
        {
            "anyOf": [
                {"type": "string", "contentEncoding": "base64", "maxLength": AVATAR_BYTES * 4 // 3 + 200},
                {"type": "object", "maxProperties": 0},
                {"type": "null"},
            ]
        },
    ),
]
Metadata = Annotated[
    dict[str, str],
    *_type(
        metadata_of,
        {
            "type": "object",
            "maxProperties": METADATA_KEYS,
            "propertyNames": {"maxLength": METADATA_NAME_CHARACTERS},
            "additionalProperties": {"type": "string", "maxLength": METADATA_CHARACTERS},
        },
    ),
]
Vocabulary = Annotated[
    tuple[str, ...],
    *_type(
        vocabulary_of,
        {
            "type": "array",
            "maxItems": VOCABULARY_ENTRIES,
            "items": {"type": "string", "minLength": 1, "maxLength": VOCABULARY_CHARACTERS},
        },
    ),
]
