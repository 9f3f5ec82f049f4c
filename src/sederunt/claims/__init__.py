"""What sources say of a meeting, and what follows from it. Pure: no clock, no input, no output.

`claim` is the record, `rules` the tables of who is believed, `fold` the state and its reasons, `journal` what is kept
of a stay, and its replay. Decoders and page readers only claim; stop rules, names and listeners read the fold.
"""
