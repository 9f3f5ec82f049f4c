"""Accounts of meeting sites whose browser is signed in at the practice sites."""

import json
from pathlib import Path

from harness.service import Service

COOKIES = {"gmeet": ("SID", ".google.com"), "teams": ("practice_account", "teams.microsoft.com")}


def keep_account(service: Service, folder: Path, site: str, value: str, *, password: str = "") -> str:
    """Store a browser that is signed in as `value`, and a password where one is given; the id of the account."""
    name, domain = COOKIES[site]
    cookie = {"name": name, "value": value, "domain": domain, "path": "/", "secure": True, "expires": -1}
    path = folder / f"{site}-{value}.json"
    path.write_text(json.dumps({"cookies": [{**cookie, "httpOnly": False, "sameSite": "Lax"}], "origins": []}))
    wishes = ("--state", str(path), *(("--with-password",) if password else ()))
    return service.run("accounts", "add-meeting", site, "minutes@example.org", *wishes, given=f"{password}\n").strip()
