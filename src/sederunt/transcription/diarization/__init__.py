"""Who speaks when, by voice alone: two small networks on this machine's own processor, without any vendor.

`diarizer` is the way in. The networks come in PyTorch's format with an installed package (`weights`), are read by a
reader that can make nothing but arrays (`checkpoint`), and become ONNX graphs once (`graphs`). PyTorch is not needed.
"""
