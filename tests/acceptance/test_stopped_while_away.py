"""A bot whose host died is told to stop: it ends with what it has, and is not seen in the meeting again."""

from harness.journeys import look, reach, send_bot, unhurried
from harness.receiver import Receiver
from harness.service import Service
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import demo


async def test_a_bot_that_is_stopped_while_its_host_is_away_does_not_come_back(
    service: Service, meetings: PracticeClient, receiver: Receiver
) -> None:
    meeting = await meetings.open_meeting(unhurried(demo(), ends=False))
    async with service.client() as api:
        bot = await send_bot(api, meeting.url, receiver)
        await reach(receiver, bot, "recording")
        await meeting.wait_for("fell_silent")
        service.kill("host")
        assert (await api.post(f"/bot/{bot['id']}/stop")).status_code == 200
        await reach(receiver, bot, "finished")
        found = await look(api, bot)
    assert (found["stop_reason"], found["recording_gaps"]) == ("manually_stopped", [])
    assert found["recording_url"]
    assert len(await meeting.events(kind="media_connected")) == 1
