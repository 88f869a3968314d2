"""Types of the native kernels."""

import numpy as np
from numpy.typing import NDArray

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

# intern.cpp
def intern_strings(items: list[str]) -> tuple[I32, U8, I64]: ...
def match_strings(known: U8, known_offsets: I64, query: U8, query_offsets: I64) -> I32: ...

# word_functions.cpp
class Lookup:
    def __init__(self, keys: U8, key_offsets: I64, values: I32, classes: U8, class_offsets: I64) -> None: ...

def apply_function(
    kind: int, number: int, text: str, blob: U8, offsets: I64, table: Lookup | None = None
) -> tuple[I32, U8, I64]: ...
