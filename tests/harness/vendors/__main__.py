"""`python -m harness.vendors NAME …`: simulated vendors as a process, until its standard input ends.

Prints one line of JSON: name → url, socket_url, key. `VendorControl` steers them.
"""

import contextlib
import json
import sys

import structlog

from harness.vendors.catalogue import VENDORS


def main() -> None:
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    with contextlib.ExitStack() as running:
        vendors = [running.enter_context(VENDORS[name]()) for name in sys.argv[1:] or VENDORS]
        told = {
            vendor.name: {
                "url": vendor.url,
                "socket_url": vendor.socket_url,
                "key": vendor.key,
                "organisation": vendor.organisation,
            }
            for vendor in vendors
        }
        sys.stdout.write(json.dumps(told) + "\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
