"""Opus packets and what becomes of them: timelines, pieces, one recording, samples for the recogniser.

Sound stays as the participants' own Opus packets for as long as possible. `timeline` puts captured frames at their
place in the recording, `pieces` writes a few seconds of them into a self-contained file, `assembly` makes one recording
of the pieces after the meeting. Only `assembly` (for the mix) and `pcm` (for the recogniser) decode.
"""
