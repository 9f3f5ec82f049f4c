"""Access to a vendor: a key, and a label that says whose it is."""

from dataclasses import dataclass, field, replace

from sederunt.errors import ProviderError, ProviderFault


@dataclass(frozen=True, kw_only=True, slots=True)
class Access:
    """A key for a vendor. Causes and logs contain its label, never the key."""

    key: str = field(repr=False)
    label: str  # "the credential 0193f2…", "the operator's key"
    region: str | None = None
    organisation: str | None = None

    def carried(self) -> "Access":
        """Return it with a key fit for a header, without the line break that an editor appended.

        Raises ProviderError (not retryable, `auth`) for a key that no header can carry: the HTTP library's own error
        would repeat it.
        """
        key = self.key.strip()
        if not fits_header(key):
            label = f"{self.label[:1].upper()}{self.label[1:]}"
            sentence = f"{label} holds characters that no vendor's key has: expected visible ASCII."
            raise ProviderError(sentence, retryable=False, kind=ProviderFault.AUTH)
        return replace(self, key=key)


def fits_header(key: str) -> bool:
    """Return whether a header can carry a key, as all vendors require."""
    return bool(key) and key.isascii() and key.isprintable() and " " not in key
