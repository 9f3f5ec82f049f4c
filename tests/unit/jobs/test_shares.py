"""One account has its share of the places, and no more."""

from uuid import UUID, uuid4

from sederunt.jobs.shares import FULL_S, Shares


async def test_an_account_waits_while_it_has_its_share_and_others_do_not() -> None:
    owners = {uuid4(): UUID(int=1 if number < 5 else 2) for number in range(8)}

    async def account_of(resource_id: UUID) -> UUID | None:
        return owners.get(resource_id)

    shares, held = Shares(2, account_of), set[str]()
    shares.held = lambda: held
    greedy = [str(id_) for id_, owner in owners.items() if owner == UUID(int=1)]
    other = [str(id_) for id_, owner in owners.items() if owner == UUID(int=2)]
    for id_ in greedy[:2]:
        assert await shares.must_wait_s(id_) == 0
        held.add(id_)
    assert await shares.must_wait_s(greedy[2]) == FULL_S
    assert await shares.must_wait_s(other[0]) == 0
    held.discard(greedy[0])
    assert await shares.must_wait_s(greedy[2]) == 0


async def test_what_is_deleted_meanwhile_waits_for_nobody() -> None:
    async def nobody(_: UUID) -> UUID | None:
        return None

    assert await Shares(0, nobody).must_wait_s(str(uuid4())) == 0
