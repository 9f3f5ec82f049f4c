"""What a vendor wants to see before it works: a key, and whose it is."""

from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """A vendor's key on its way to the vendor. Causes and logs name it by its label, never by itself."""

    key: str = field(repr=False)
    label: str  # "the credential 0193f2…", "the operator's key"
    region: str | None = None
    organisation: str | None = None


def fits_header(key: str) -> bool:
    """Return whether a key can be carried by a header, as every vendor wants it."""
    return bool(key) and key.isascii() and key.isprintable() and " " not in key
