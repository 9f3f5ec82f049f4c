"""Live Whisper: speech as it comes, drafts while it goes on, finals when it pauses.

detector          where somebody speaks, block by block
hypothesis   which words of successive drafts will stay: pure decisions
track        one stream: utterances opened, closed, and what is to be read next
reader       a draft or a final of one utterance through the network
selector       which network reads a stream, in which language
voices         whose voice each part of a final is, where several people share a stream
pace         how long the steps are under pressure
engine       whose turn it is, and the threads, one set per process
session      the stream as the pipeline knows it
provider     the door
"""
