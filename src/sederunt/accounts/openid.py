"""Ask an OpenID provider who somebody is: the authorisation code flow with PKCE, a state and a nonce.

Nothing that a browser brings back is trusted: the code is exchanged with the provider itself, and the resulting token
must be signed by one of its keys, for us, now, and for this very attempt.

The first sign-in loads the libraries: most installations have no provider.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2

from sederunt import foreign_json, log
from sederunt.accounts.openid_rules import Claims
from sederunt.accounts.sealing import Sealer
from sederunt.clock import Clock
from sederunt.errors import SetupError, SignInFailed
from sederunt.settings import OidcSettings

ATTEMPT_S = 600  # how long somebody may take at the provider
METADATA_S = 3600  # how long a provider's own description is cached
TIMEOUT_S = 10.0
MOST_BYTES = 1_000_000
LEEWAY_S = 60
LONGEST_SUBJECT = 255
# Signatures that need the provider's private key. A shared secret, or no signature, proves nothing.
ALGORITHMS = frozenset(f"{kind}{bits}" for kind in ("RS", "PS", "ES") for bits in (256, 384, 512)) | {
    "EdDSA",
    "Ed25519",
}
_ENDPOINTS = ("authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint")  # the last may be missing
_PLACE = ("cookies", "openid", "attempt")

logger = log.get(component="accounts")


@dataclass(frozen=True, kw_only=True, slots=True)
class SignInAttempt:
    """The state of one sign-in attempt, which its browser keeps sealed."""

    state: str
    nonce: str
    verifier: str
    began_at: float
    next: str  # where it leads afterwards
    person_id: str = ""  # of a person who links their identity; empty for a sign-in

    @classmethod
    def begin(cls, clock: Clock, next_path: str, person_id: str = "") -> "SignInAttempt":
        """Return a new attempt."""
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        now = clock.now().timestamp()
        return cls(state=state, nonce=nonce, verifier=verifier, began_at=now, next=next_path, person_id=person_id)

    def sealed(self, sealer: Sealer) -> str:
        """Return the attempt as a cookie's value."""
        return sealer.seal(json.dumps(asdict(self)), *_PLACE).hex()

    @classmethod
    def opened(cls, cookie: str, state: str, sealer: Sealer, clock: Clock) -> "SignInAttempt":
        """Return the attempt in a cookie. Raises SignInFailed if it belongs to another state, or is too old."""
        try:
            attempt = cls(**json.loads(sealer.open(bytes.fromhex(cookie), *_PLACE)))
        except (ValueError, TypeError, SetupError):
            raise SignInFailed("This sign-in did not begin in this browser: try again.") from None
        if not secrets.compare_digest(attempt.state.encode(), state.encode("utf-8", "replace")):
            raise SignInFailed("This answer belongs to another sign-in: try again.")
        if clock.now().timestamp() - attempt.began_at > ATTEMPT_S:
            raise SignInFailed("This sign-in took too long: try again.")
        return attempt


@dataclass(frozen=True, kw_only=True, slots=True)
class _Metadata:
    """A provider's description of itself."""

    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str
    by_post: bool  # it accepts a client's secret only in the body
    names_itself: bool  # its answers through the browser carry its issuer


class OpenIdProvider:
    """The provider of the settings."""

    def __init__(self, settings: OidcSettings, clock: Clock) -> None:
        assert settings.issuer is not None, "there is a provider"
        self.settings, self._issuer, self._clock = settings, settings.issuer, clock
        self._metadata: tuple[float, _Metadata] | None = None

    @property
    def issuer(self) -> str:
        """Return the name under which its subjects are stored."""
        return self._issuer

    async def address(self, attempt: SignInAttempt, redirect_uri: str) -> str:
        """Return the address to send the browser to. Raises SignInFailed if the provider cannot be asked."""
        from authlib.oauth2.rfc6749.parameters import prepare_grant_uri
        from authlib.oauth2.rfc7636 import create_s256_code_challenge

        metadata = await self._described()
        return str(
            prepare_grant_uri(
                metadata.authorization_endpoint,
                self.settings.client_id,
                "code",
                redirect_uri,
                " ".join(dict.fromkeys(("openid", *self.settings.scopes))),
                attempt.state,
                nonce=attempt.nonce,
                code_challenge=create_s256_code_challenge(attempt.verifier),  # type: ignore[no-untyped-call]
                code_challenge_method="S256",
            )
        )

    async def claims(self, attempt: SignInAttempt, answer: Mapping[str, str], redirect_uri: str) -> Claims:
        """Return a person's claims, from what their browser brought back. Raises SignInFailed."""
        metadata = await self._described()
        if answer.get("iss", self._issuer) != self._issuer or (metadata.names_itself and "iss" not in answer):
            raise _untrusted("the answer is another provider's")
        if "error" in answer:
            logger.info("a provider refused a sign-in", action="openid_refused", error=answer["error"][:100])
            is_refused = answer["error"] == "access_denied"
            raise SignInFailed(f"{self._title} {'did not let you in' if is_refused else 'could not sign you in'}.")
        if not answer.get("code"):
            raise _untrusted("it has no code")
        tokens = await self._exchange(metadata, attempt, answer["code"], redirect_uri)
        claims = await self._checked(metadata, attempt, tokens)
        return await self._with_more(metadata, tokens, claims)

    @property
    def _title(self) -> str:
        return self.settings.name[:1].upper() + self.settings.name[1:]

    async def _described(self) -> _Metadata:
        now = self._clock.monotonic()
        if self._metadata is None or now - self._metadata[0] > METADATA_S:
            address = f"{self._issuer.rstrip('/')}/.well-known/openid-configuration"
            self._metadata = now, self._read(await self._ask("GET", address))
        return self._metadata[1]

    def _read(self, document: Mapping[str, Any]) -> _Metadata:
        if document.get("issuer") != self._issuer:
            raise _misconfigured(f"it calls itself {str(document.get('issuer'))[:200]!r}, not {self._issuer!r}")
        endpoints = {name: str(document.get(name) or "") for name in _ENDPOINTS}
        for name, address in endpoints.items():
            if not self._is_as_safe(address) and (address or name != "userinfo_endpoint"):
                raise _misconfigured(f"its {name} is no address as safe as its issuer")
        methods = document.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
        return _Metadata(
            **endpoints,
            by_post="client_secret_basic" not in methods,
            names_itself=document.get("authorization_response_iss_parameter_supported") is True,
        )

    def _is_as_safe(self, address: str) -> bool:
        schemes = ("https",) if self._issuer.startswith("https:") else ("https", "http")
        return urlsplit(address).scheme in schemes and bool(urlsplit(address).hostname)

    async def _exchange(
        self, metadata: _Metadata, attempt: SignInAttempt, code: str, redirect_uri: str
    ) -> Mapping[str, Any]:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": attempt.verifier,
        }
        secret = self.settings.client_secret
        auth: httpx2.BasicAuth | None = None
        if secret is None or metadata.by_post:
            form["client_id"] = self.settings.client_id
        if secret is not None and metadata.by_post:
            form["client_secret"] = secret.get_secret_value()
        elif secret is not None:
            auth = httpx2.BasicAuth(self.settings.client_id, secret.get_secret_value())
        return await self._ask("POST", metadata.token_endpoint, data=form, auth=auth)

    async def _checked(self, metadata: _Metadata, attempt: SignInAttempt, tokens: Mapping[str, Any]) -> Claims:
        """Return the claims of the token that the provider signed for this attempt."""
        from authlib.oidc.core import CodeIDToken
        from joserfc import jwt
        from joserfc.errors import JoseError
        from joserfc.jwk import KeySet

        try:
            keys = KeySet.import_key_set(await self._ask("GET", metadata.jwks_uri))  # type: ignore[arg-type]
            token = jwt.decode(str(tokens.get("id_token", "")), keys, algorithms=sorted(ALGORITHMS))
            claims = CodeIDToken(
                token.claims,
                token.header,
                {
                    "iss": {"essential": True, "value": self._issuer},
                    "aud": {"essential": True, "value": self.settings.client_id},
                    "nonce": {"essential": True, "value": attempt.nonce},
                },
                {
                    "client_id": self.settings.client_id,
                    "nonce": attempt.nonce,
                    "access_token": tokens.get("access_token"),
                },
            )
            claims.validate(now=int(self._clock.now().timestamp()), leeway=LEEWAY_S)
        except (JoseError, ValueError, TypeError, KeyError, AttributeError) as error:
            raise _untrusted(f"{type(error).__name__}: {error}") from None
        subject = claims.get("sub")
        if not isinstance(subject, str) or not 1 <= len(subject) <= LONGEST_SUBJECT or "\0" in subject:
            raise _untrusted("its subject is none")
        return claims

    async def _with_more(self, metadata: _Metadata, tokens: Mapping[str, Any], claims: Claims) -> Claims:
        """Return the claims, completed with those that the provider gives only on request."""
        claim_names = {"name", "email", self.settings.role_claim, self.settings.account_claim} - {None}
        access_token = tokens.get("access_token")
        if not metadata.userinfo_endpoint or not access_token or claim_names <= set(claims):
            return claims
        user_info = await self._ask(
            "GET", metadata.userinfo_endpoint, headers={"Authorization": f"Bearer {access_token}"}
        )
        if user_info.get("sub") != claims["sub"]:
            raise _untrusted("it told of somebody else")
        return {**user_info, **claims}

    async def _ask(self, method: str, address: str, **options: Any) -> Mapping[str, Any]:
        """Return the provider's answer, a JSON object. Raises SignInFailed."""
        try:
            async with (
                httpx2.AsyncClient(timeout=TIMEOUT_S) as client,
                client.stream(method, address, **options) as answer,
            ):
                body = b""
                async for part in answer.aiter_bytes():
                    body += part
                    if len(body) > MOST_BYTES:
                        raise _misconfigured(f"{urlsplit(address).path} answers without an end")
            value: Any = foreign_json.read(body)
        except httpx2.HTTPError as error:
            logger.warning("a provider was not reached", action="openid_away", address=address, why=str(error))
            raise SignInFailed(f"{self._title} cannot be reached right now.") from None
        except ValueError:
            raise _misconfigured(f"{urlsplit(address).path} answers {answer.status_code}, and no JSON") from None
        if answer.status_code != httpx2.codes.OK or not isinstance(value, dict):
            reason = value.get("error") if isinstance(value, dict) else type(value).__name__
            raise _misconfigured(f"{urlsplit(address).path} answers {answer.status_code}: {str(reason)[:100]}")
        return value


def _untrusted(reason: str) -> SignInFailed:
    logger.warning("a provider's answer was refused", action="openid_untrusted", why=reason)
    return SignInFailed(f"The answer of your sign-in cannot be trusted ({reason}): try again.")


def _misconfigured(reason: str) -> SignInFailed:
    logger.warning("a provider does not do what it should", action="openid_misconfigured", why=reason)
    return SignInFailed(f"The sign-in is not set up right: {reason}. Tell whoever runs this installation.")
