"""The message server dies and comes back: listeners stay and miss nothing, newcomers are told to come again."""

from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus

from harness.api_room import api_room, on_a_socket
from harness.fake_clock import FakeClock
from harness.nats import running_server
from harness.socket_room import Stage


async def test_listeners_outlast_a_killed_message_server(tmp_path: Path, clock: FakeClock) -> None:
    (tmp_path / "nats").mkdir()
    async with (
        running_server(tmp_path / "nats") as server,
        api_room(tmp_path / "data", server.settings(), clock) as room,
        on_a_socket(room.app) as port,
    ):
        stage = Stage(room, clock, port)
        bot = await stage.bot()
        async with stage.listen(bot) as listener:
            await stage.tell(bot, {"type": "start"})
            await listener.until("start")
            await server.stop()
            with pytest.raises(InvalidStatus) as refused:
                async with stage.listen(bot):
                    pass
            assert refused.value.response.status_code == 503
            await server.start()
            await stage.tell(bot, *({"type": "chat-message", "data": {"content": str(n)}} for n in range(20)))
            heard = [(await listener.next())["data"]["content"] for _ in range(20)]
        assert heard == [str(n) for n in range(20)]
        async with stage.listen(bot) as newcomer:
            assert len((await newcomer.next())["data"]["chat_messages"]) == 20
