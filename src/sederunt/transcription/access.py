"""What a vendor wants to see before it works: a key, and whose it is."""

from dataclasses import dataclass, field, replace

from sederunt.errors import ProviderError, ProviderFault


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """A vendor's key on its way to the vendor. Causes and logs name it by its label, never by itself."""

    key: str = field(repr=False)
    label: str  # "the credential 0193f2…", "the operator's key"
    region: str | None = None
    organisation: str | None = None

    def carried(self) -> "Access":
        """Return it with the key as a header carries it, without the line's end that an editor put behind it.

        Raises ProviderError (not retryable, `auth`) for a key that none can carry: an HTTP library's own sentence would
        repeat it.
        """
        key = self.key.strip()
        if not fits_header(key):
            label = f"{self.label[:1].upper()}{self.label[1:]}"
            sentence = f"{label} holds characters that no vendor's key has: expected visible ASCII."
            raise ProviderError(sentence, retryable=False, kind=ProviderFault.AUTH)
        return replace(self, key=key)


def fits_header(key: str) -> bool:
    """Return whether a key can be carried by a header, as every vendor wants it."""
    return bool(key) and key.isascii() and key.isprintable() and " " not in key
