"""Simulated vendors of speech to text: strict servers on loopback that answer from what they heard.

`with Deepgram() as vendor:` runs one on a thread of its own; `vendor.settings` points the service at it,
`vendor.fault(…)` makes it fail, `vendor.ledger` has the counts. `python -m harness.vendors deepgram …` runs them as a
process, which `VendorControl` steers.
"""
