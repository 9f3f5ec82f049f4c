"""Speechmatics: after the meeting and while it goes on."""

from sederunt.transcription.cloud.provider import CloudProvider
from sederunt.transcription.speechmatics.vendor import VENDOR

PROVIDER = CloudProvider(VENDOR)
