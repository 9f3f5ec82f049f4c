"""Which rendered bodies an api process keeps, and for how long."""

from uuid import UUID

from sederunt.api.transport.body_cache import LEAST_BYTES, BodyCache

ADA, BEN = UUID(int=1), UUID(int=2)
BODY = b"x" * LEAST_BYTES


def test_a_body_is_found_by_its_tag() -> None:
    bodies = BodyCache()
    bodies.keep(ADA, "one", BODY)
    assert bodies.get("one") == BODY
    assert bodies.get("two") is None
    assert (bodies.has(ADA), bodies.has(BEN)) == (True, False)


def test_small_and_huge_bodies_are_not_kept() -> None:
    bodies = BodyCache(most_bytes=4 * LEAST_BYTES)
    bodies.keep(ADA, "small", BODY[:-1])
    bodies.keep(ADA, "huge", BODY + b"x")
    assert not bodies.has(ADA)


def test_the_body_that_nobody_asked_for_the_longest_makes_room() -> None:
    bodies = BodyCache(most_bytes=4 * LEAST_BYTES)
    for name in ("a", "b", "c", "d"):
        bodies.keep(ADA, name, BODY)
    assert bodies.get("a")
    bodies.keep(BEN, "e", BODY)
    assert [name for name in "abcde" if bodies.get(name)] == ["a", "c", "d", "e"]


def test_of_what_was_deleted_nothing_is_left() -> None:
    bodies = BodyCache(most_bytes=4 * LEAST_BYTES)
    for name, owner in (("a", ADA), ("b", BEN), ("c", ADA)):
        bodies.keep(owner, name, BODY)
    bodies.keep(ADA, "a", BODY)
    bodies.forget(ADA)
    assert (bodies.has(ADA), bodies.get("a"), bodies.get("c")) == (False, None, None)
    assert bodies.get("b") == BODY
    for name in ("f", "g", "h"):
        bodies.keep(ADA, name, BODY)
    assert bodies.get("b"), "there was room again for three"
