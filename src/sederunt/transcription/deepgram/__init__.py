"""Deepgram: nova-2 and nova-3, after the meeting and while it goes on."""

from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.deepgram.vendor import VENDOR

PROVIDER = CloudProvider(VENDOR)
