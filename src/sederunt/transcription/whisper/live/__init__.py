"""Live Whisper: speech as it comes, drafts while it goes on, finals when it pauses.

ear          where somebody speaks, block by block
hypothesis   which words of successive drafts will stay: pure decisions
track        one stream: utterances opened, closed, and what is to be read next
reader       a draft or a final of one utterance through the network
scheduler    whose turn it is, and how long the steps are under pressure
engine       the threads, one set per process
session      the stream as the pipeline knows it
"""
