"""Who speaks when, by voice alone: two small networks on this machine's own processor, without any vendor.

`diarizer` is the entry point. The networks come in PyTorch's format with an installed package (`weights`), are read
by a reader that builds nothing but arrays (`checkpoint`), and are converted once to ONNX (`graphs`), without PyTorch.
"""
