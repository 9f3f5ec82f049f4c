"""A reader that never comes to an end: for the test of its limits."""

import sys

from sederunt.media.apart_child import give_up_rights

if __name__ == "__main__":
    give_up_rights(int(sys.argv[3]))
    while True:
        pass
