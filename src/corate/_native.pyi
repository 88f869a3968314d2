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
# reader.cpp
_Interned = tuple[I32, U8, I64]
_Parsed = tuple[list[_Interned], I64, int, int, int]

def parse_columns(
    data: bytes, separator: str, comment: str, width: int, skip_bad: bool, drop_docstart: bool
) -> _Parsed: ...
def parse_lines(data: bytes, slashed: bool, comment: str, skip_bad: bool) -> _Parsed: ...
def parse_items(data: bytes, comment: str) -> tuple[_Parsed, I64, I64]: ...
