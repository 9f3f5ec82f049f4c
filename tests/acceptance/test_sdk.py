"""The interface's published TypeScript client, unmodified, works against us: every method of client, bot, recording."""

from pathlib import Path

from harness.client_script import run_script
from harness.service import Service
from sederunt.practice.client import PracticeClient
from sederunt.practice.script import demo


async def test_every_method_of_the_published_client_works(
    service: Service, meetings: PracticeClient, client_folder: Path
) -> None:
    meeting = await meetings.open_meeting(demo())
    seen = await run_script(client_folder, "drive.mjs", service.url, service.key, meeting.url)

    assert all(seen["kinds"].values()), seen["kinds"]
    first, reserved, *_, last = seen["capacity"]
    assert (first["reserved"], reserved["reserved"], last) == (0, 2, {"reserved": 0, "available": 0})
    assert seen["slash"]

    scheduled = seen["scheduled"]
    assert (scheduled["status"], scheduled["bot_avatar"], scheduled["lang"]) == ("scheduled", None, "en")
    assert (scheduled["custom_metadata"], scheduled["custom_vocabulary"]) == ({"order": "7"}, ["Sederunt"])
    assert seen["listed"]
    assert seen["renamed"]["bot_name"] == seen["updated"]["bot_name"] == "Renamed"
    assert seen["updated"]["stop_options"] == {**scheduled["stop_options"], "silence_detection": 0}
    assert seen["updated"]["scheduled_for"] == seen["renamed"]["scheduled_for"] > scheduled["scheduled_for"]
    assert seen["prices"][0] == seen["prices"][1]
    assert "Realtime client is not available" in seen["notRealtime"]["message"]
    assert {seen[name]["kind"] for name in ("deleted", "deletedTwice", "recordingDeleted")} == {"NotFoundError"}

    finished = seen["finished"]
    assert (finished["status"], finished["stop_reason"]) == ("finished", "manually_stopped")
    assert finished["recording_url"]
    said = [line["text"] for line in (await meeting.state())["chat"] if line["sender"] == "Minutes"]
    assert said == ["Good morning from the client."]
    for name, status in (("activeRefused", "recording"), ("patchRefused", "recording"), ("stopRefused", "finished")):
        assert (seen[name]["kind"], seen[name]["status"]) == ("ApiRequestError", 409)
        assert status in seen[name]["body"]["message"]

    recording = seen["recording"]
    assert (seen["recordingCreated"]["status"], recording["status"]) == ("transcribing", "finished")
    assert (recording["transcription_model"], recording["lang"]) == ("whisper", "en")
    assert [event["data"]["new_status"] for event in recording["events"] if event["event"] == "status_update"] == [
        "finished"
    ]

    assert (seen["unauthorized"]["kind"], seen["unauthorized"]["status"]) == ("UnauthorizedError", 401)
    assert seen["invalid"]["status"] == 400
    assert list(seen["invalid"]["body"]["errors"]) == ["service", "stop_options.time_limit"]
