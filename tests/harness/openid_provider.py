"""An OpenID provider that keeps to the standard, or does not: each fault is one word."""

import base64
import hashlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlencode

from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from harness.api_room import on_a_socket

CLIENT, SECRET = "sederunt-console", "a secret of the console"


@dataclass(kw_only=True)
class Provider:
    """What it says of who signs in, and how it misbehaves."""

    claims: dict[str, Any] = field(default_factory=lambda: {"sub": "ada-1", "name": "Ada Lovelace"})
    more: dict[str, Any] = field(default_factory=dict)  # what only its userinfo endpoint tells
    fault: str = ""
    issuer: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    key: RSAKey = field(default_factory=lambda: RSAKey.generate_key(2048, {"kid": "one", "use": "sig"}))

    async def described(self, _request: Request) -> Response:
        named = "https://other.example" if self.fault == "another issuer" else self.issuer
        told: dict[str, Any] = {
            "issuer": named,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "authorization_response_iss_parameter_supported": True,
        }
        return JSONResponse(told)

    async def authorize(self, request: Request) -> Response:
        asked = dict(request.query_params)
        assert asked["code_challenge_method"] == "S256"
        back = {"state": asked["state"], "iss": self.issuer, "code": f"code-{len(self.codes)}"}
        self.codes[back["code"]] = asked
        match self.fault:
            case "denied":
                back = {"state": asked["state"], "iss": self.issuer, "error": "access_denied"}
            case "another state":
                back["state"] = "x" * 43
            case "another answerer":
                back["iss"] = "https://other.example"
            case "answer without issuer":
                del back["iss"]
            case "no code":
                del back["code"]
        return RedirectResponse(f"{asked['redirect_uri']}?{urlencode(back)}", 303)

    async def token(self, request: Request) -> Response:
        form = {name: values[0] for name, values in parse_qs((await request.body()).decode()).items()}
        asked = self.codes.pop(form.get("code", ""), None)
        basic = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        proof = base64.urlsafe_b64encode(hashlib.sha256(form["code_verifier"].encode()).digest()).rstrip(b"=").decode()
        good = (
            asked is not None
            and request.headers.get("authorization") == f"Basic {basic}"
            and proof == asked["code_challenge"]
            and form["redirect_uri"] == asked["redirect_uri"]
        )
        if not good or asked is None:
            return JSONResponse({"error": "invalid_grant"}, 400)
        return JSONResponse({"access_token": "opaque", "token_type": "Bearer", "id_token": self.signed(asked["nonce"])})

    def signed(self, nonce: str) -> str:
        """Return the token, with the fault in it."""
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300, "nonce": nonce, **self.claims}
        faults: dict[str, dict[str, Any]] = {
            "wrong nonce": {"nonce": "of another try"},
            "wrong issuer": {"iss": "https://other.example"},
            "wrong audience": {"aud": "another client"},
            "one of several audiences": {"aud": [CLIENT, "another"], "azp": "another"},
            "expired": {"exp": now - 3600, "iat": now - 7200},
            "from the future": {"iat": now + 3600, "exp": now + 7200},
            "no subject": {"sub": ""},
        }
        claims |= faults.get(self.fault, {})
        if self.fault == "no nonce":
            del claims["nonce"]
        header = {"alg": "RS256", "kid": "one"}
        if self.fault == "not signed":
            parts = (jwt.encode(header, claims, self.key)).split(".")
            head = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
            return f"{head}.{parts[1]}."
        if self.fault == "signed with the public key as a secret":
            secret = OctKey.import_key(self.key.as_pem(private=False))
            return jwt.encode({"alg": "HS256", "kid": "one"}, claims, secret, algorithms=["HS256"])
        if self.fault == "signed by somebody else":
            return jwt.encode(header, claims, RSAKey.generate_key(2048, {"kid": "one"}))
        return jwt.encode(header, claims, self.key)

    async def keys(self, _request: Request) -> Response:
        return JSONResponse({"keys": [self.key.as_dict(private=False)]})

    async def userinfo(self, request: Request) -> Response:
        assert request.headers["authorization"] == "Bearer opaque"
        sub = "somebody else" if self.fault == "told of somebody else" else self.claims["sub"]
        return JSONResponse({"sub": sub, **self.more})


@asynccontextmanager
async def openid_provider(**options: Any) -> AsyncIterator[Provider]:
    """A provider on a port of its own."""
    made = Provider(**options)
    paths = {
        "/.well-known/openid-configuration": made.described,
        "/authorize": made.authorize,
        "/keys": made.keys,
        "/userinfo": made.userinfo,
    }
    routes = [Route(path, handler) for path, handler in paths.items()]
    async with on_a_socket(Starlette(routes=[*routes, Route("/token", made.token, methods=["POST"])])) as port:
        made.issuer = f"http://127.0.0.1:{port}"
        yield made
