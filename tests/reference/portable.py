"""Exponentials, logarithms and inner products in the order of operations of native/core, each rounded on its own."""

from __future__ import annotations

import math
import struct

import numpy as np
from numpy.typing import NDArray

LOG_2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
LANES = 32


def bits_of(x: float) -> int:
    return int.from_bytes(struct.pack("<d", x), "little")


def of_bits(bits: int) -> float:
    return float(struct.unpack("<d", (bits % 2**64).to_bytes(8, "little"))[0])


def log(x: float) -> float:
    """The oracle of portable_log, for normal x > 0."""
    exponent = (bits_of(x) - 0x3FE6A09E667F3BCD) >> 52
    m, e = of_bits(bits_of(x) - (exponent << 52)), float(exponent)
    f = m - 1.0
    s = f / (m + 1.0)
    z = s * s
    w = z * z
    odd = 1.0 / 3.0 + w * (1.0 / 7.0 + w * (1.0 / 11.0 + w * (1.0 / 15.0 + w * (1.0 / 19.0))))
    even = 1.0 / 5.0 + w * (1.0 / 9.0 + w * (1.0 / 13.0 + w * (1.0 / 17.0)))
    rest = 2.0 * s * z * (odd + z * even) - s * f
    return e * LOG_2[0] + (f + (rest + e * LOG_2[1]))


def exp(x: float) -> float:
    """The oracle of fast_exp, for x from -708 to 709."""
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    whole = shifted - 6755399441055744.0
    r = x - whole * 6.93145751953125e-1
    r -= whole * 1.42860682030941723212e-6
    p = 1.0 / math.factorial(12)
    for power in range(11, -1, -1):
        p = p * r + 1.0 / math.factorial(power)
    return p * of_bits((bits_of(shifted) + 1023) << 52)


def dot(a: NDArray, b: NDArray) -> float:
    """The oracle of the inner product: sums of every 32nd product, added to those of the remaining numbers."""
    whole = len(a) // LANES * LANES
    sums = np.zeros(LANES)
    for i in range(0, whole, LANES):
        sums += a[i : i + LANES] * b[i : i + LANES]
    total = 0.0
    for x, y in zip(a[whole:].tolist(), b[whole:].tolist(), strict=True):
        total += x * y
    for lane in sums.tolist():
        total += lane
    return total
