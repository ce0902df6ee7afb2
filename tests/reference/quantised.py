# SPDX-License-Identifier: MIT
# Makes tests/fuzz/quantised.gguf: one tensor of two rows for every quantised type that the package reads, and beside
# each the numbers that the Python package gguf (llama.cpp's own) makes of it. Run with: pip install gguf

import sys
from pathlib import Path

import numpy
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as Type, GGUFWriter
from gguf.quants import dequantize, quantize

kOut = Path(__file__).parent.parent / "fuzz/quantised.gguf"
random = numpy.random.default_rng(5)


def blocks(kind):
    """Two rows of 256 numbers: quantised normal numbers where the package can, else random bytes with sane scales."""
    try:
        return quantize(random.standard_normal((2, 256)).astype(numpy.float32), kind)
    except NotImplementedError:
        numbers, size = GGML_QUANT_SIZES[kind]
        data = random.integers(0, 256, (2 * 256 // numbers, size), dtype=numpy.uint8)
        scales = {Type.Q4_K: [0, 2], Type.Q5_K: [0, 2], Type.Q6_K: [208]}[kind]
        for at in scales:
            half = (random.standard_normal(len(data)) / 64).astype(numpy.float16)
            data[:, at : at + 2] = half.view(numpy.uint8).reshape(-1, 2)
        return data.reshape(2, -1)


writer = GGUFWriter(kOut, "none")
kinds = [Type.F16, Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.Q4_K, Type.Q5_K, Type.Q6_K]
for kind in kinds:
    data = blocks(kind)
    if kind == Type.F16:
        writer.add_tensor(kind.name, data)
    else:
        writer.add_tensor(kind.name, data, raw_dtype=kind)
    expected = dequantize(data, kind).astype(numpy.float32).reshape(2, 256)
    writer.add_tensor(f"{kind.name}.expected", expected)
writer.write_header_to_file()
writer.write_kv_data_to_file()
writer.write_tensors_to_file()
writer.close()
print(kOut, kOut.stat().st_size, "bytes", file=sys.stderr)
