"""What we hand out plays in a real browser: its length is known at once, and any place in it can be reached."""

import base64
import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from playwright.async_api import async_playwright

from sederunt.media import opus
from sederunt.media.assembly import assemble
from sederunt.media.pieces import write_piece
from sederunt.model.audio import Packet

DURATION_S = 90.5
PLAY = """async (content) => {
    const bytes = Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
    const player = new Audio(URL.createObjectURL(new Blob([bytes], { type: "video/webm" })));
    await new Promise((known, failed) => {
        player.onloadedmetadata = known;
        player.onerror = () => failed(player.error.message);
    });
    const duration = player.duration;
    player.currentTime = 60;
    await new Promise((sought) => (player.onseeked = sought));
    await player.play();
    await new Promise((moved) => (player.ontimeupdate = () => player.currentTime > 60.2 && moved()));
    return duration;
}"""


@pytest.fixture
def shell() -> str:
    found = shutil.which("chromium-headless-shell")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("chromium-headless-shell is not installed; playback may not be left out here")
        warnings.warn("chromium-headless-shell is not installed: PLAYBACK IS NOT TESTED", stacklevel=1)
        pytest.skip("chromium-headless-shell is not installed")
    return found


@pytest.mark.chromium
async def test_a_recording_plays_from_any_place_and_knows_its_length(tmp_path: Path, shell: str) -> None:
    encoder = opus.OpusEncoder(opus.RATE, 32_000)
    times = np.arange(opus.RATE * 20) / opus.RATE
    packets = [
        Packet(source="1", start=50 + n * 0.02, duration=0.02, payload=payload)
        for n, payload in enumerate(encoder.encode((9_000 * np.sin(2 * np.pi * 440 * times)).astype(np.int16)))
    ]
    assemble([write_piece(packets)], mixed=tmp_path / "r.webm", tracks=tmp_path / "t", duration_s=DURATION_S)
    content = base64.b64encode((tmp_path / "r.webm").read_bytes()).decode()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=shell, args=["--no-sandbox", "--autoplay-policy=no-user-gesture-required"]
        )
        try:
            page = await browser.new_page()
            assert await page.evaluate(PLAY, content) == pytest.approx(DURATION_S, abs=0.021)
        finally:
            await browser.close()
