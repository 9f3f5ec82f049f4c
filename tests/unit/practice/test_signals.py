"""Meet's channel messages, field by field."""

import zlib

from sederunt.practice.gmeet import signals
from sederunt.practice.people import ChatMessage, Occupant
from sederunt.practice.protobuf import ProtoMessage

ADA = Occupant(number=1, name="Ada Lovelace", key="spaces/s/devices/101", csrc=1001, host=True, present=True)


def test_numbers_beyond_seven_bits_take_further_bytes() -> None:
    assert bytes(ProtoMessage((1, 300), (21, "x"), (3, None))) == b"\x08\xac\x02\xaa\x01\x01x"


def test_a_nested_message_is_length_prefixed() -> None:
    assert bytes(ProtoMessage((2, ProtoMessage((1, 1))))) == b"\x12\x02\x08\x01"


def test_a_roster_event_is_compressed_and_names_device_and_source() -> None:
    told = zlib.decompress(signals.roster_event(1, [ADA], None))
    assert told.startswith(b"\x0a")
    assert b"\x22\x041001" in told  # field 4 of a device output
    assert b"\x32\x14spaces/s/devices/101" in told  # field 6


def test_a_removed_person_has_status_7_and_an_absent_one_6() -> None:
    here = bytes(signals._user(ADA, None))
    gone = bytes(signals._user(Occupant(number=2, name="B", key="k", csrc=2), None))
    out = bytes(signals._user(Occupant(number=2, name="B", key="k", csrc=2, removed=True), None))
    assert [status for user in (here, gone, out) for status in (1, 6, 7) if bytes([0x20, status]) in user] == [1, 6, 7]


def test_a_screen_share_is_a_user_of_its_own_under_its_owner() -> None:
    sharing = Occupant(number=1, name="Ada", key="spaces/s/devices/101", csrc=1001, present=True, sharing=True)
    told = signals.sync_response(1, [sharing], None)
    assert b"\xaa\x01\x14spaces/s/devices/101" in told  # field 21


def test_messages_of_the_roster_are_numbered_in_their_order() -> None:
    told = [zlib.decompress(signals.roster_event(number, [ADA], None)) for number in (7, 300)]
    assert [b"\x0a\x02\x08\x07" in told[0], b"\x0a\x03\x08\xac\x02" in told[1]] == [True, True]


def test_a_chat_event_carries_sender_and_text() -> None:
    told = zlib.decompress(signals.chat_event(ChatMessage("0000000000000001", ADA, "Good morning.", 5)))
    assert b"spaces/s/messages/0000000000000001" in told
    assert b"\x0a\rGood morning." in told


def test_the_bot_mark_is_only_there_for_suspects() -> None:
    assert bytes([36 << 3 & 0x7F | 0x80, 0x02, 1]) in signals.device_created("k", suspected=True)
    assert signals.device_created("k", suspected=False) == b"\x0a\x03\x0a\x01k"
