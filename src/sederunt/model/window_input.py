"""A person's actions in a sign-in window, as the API takes them and a host's browser performs them."""

from enum import StrEnum

MOST_INPUTS = 200  # of one request
MOST_PARTS = 3  # a name with its arguments
MOST_TEXT = 2_000  # characters of one argument
MOST_PIXELS = 100_000  # either way, of one argument


class WindowInput(StrEnum):
    """An input's name; its arguments are in the comment behind it."""

    MOVE = "move"  # the pointer's place, in shares of width and height
    DOWN = "down"  # the button (0, 1, 2), and which click of a series this is
    UP = "up"  # the button
    WHEEL = "wheel"  # pixels, across and down
    PRESS = "press"  # a key
    RELEASE = "release"  # a key
    TYPE = "type"  # a text
    SIZE = "size"  # of the window, in pixels
    BACK = "back"
    RELOAD = "reload"
