"""Live Whisper: drafts while somebody speaks, finals in pauses.

detector     finds speech, block by block
hypothesis   decides which words of successive drafts will stay; pure
track        opens and closes the utterances of one stream, and tells what to read next
reader       reads a draft or a final of one utterance
selector     selects the network and language of a stream
voices       tells which voice each part of a final belongs to, if several people share a stream
pace         sets the time between drafts under load
engine       schedules the readings on threads, one set per process
session      is the stream as the pipeline sees it
provider     is the entry point
"""
