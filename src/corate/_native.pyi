"""Types of the native kernels, by the file of native/bindings that binds them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U8 = NDArray[np.uint8]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
U64 = NDArray[np.uint64]

# strings.cpp
def release_memory() -> None: ...

class StringInterner:
    def __init__(self) -> None: ...
    def __len__(self) -> int: ...
    def add(self, data: U8, offsets: I64) -> I32: ...
    def table(self) -> tuple[U8, I64]: ...

def intern_strings(items: list[str]) -> tuple[I32, U8, I64]: ...
def intern_sentences(sentences: list[Any], n_columns: int) -> tuple[I64, list[tuple[I32, U8, I64]]] | None: ...
def intern_buffer(data: U8, offsets: I64) -> tuple[I32, U8, I64]: ...
def match_strings(known: U8, known_offsets: I64, query: U8, query_offsets: I64) -> I32: ...
def match_keys(known: U64, query: U64) -> I32: ...

# attributes.cpp
Found = tuple[I64, I64, I32, F32 | None]

class NamedFeatures:
    def __init__(self, sentence: Any) -> None: ...
    def __len__(self) -> int: ...
    def items(self) -> list[dict[str, float]]: ...

class AttributeNames:
    def __init__(self, blob: U8, offsets: I64, joiner: str, bins: list[tuple[str, F64, list[str]]] | None) -> None: ...
    def find(self, sentences: list[Any]) -> Found: ...
    def match(self, blob: U8, offsets: I64) -> I32: ...

def intern_features(sentences: list[Any], keep_false: bool = False) -> tuple[Found, tuple[U8, I64], I32]: ...

# word_functions.cpp
class Lookup:
    def __init__(
        self, keys: U8, key_offsets: I64, values: I32, classes: U8, class_offsets: I64, related: bool = False
    ) -> None: ...

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
def parse_conllu(data: bytes, fields: list[int], skip_bad: bool) -> _Parsed: ...
def parse_items(data: bytes, comment: str) -> tuple[_Parsed, I64, I64]: ...

# feature_map.cpp
Columns = list[tuple[I32, U8, I64]]
FunctionSpec = tuple[int, int, int, str, Lookup | None, bool]

class FeatureMap:
    def __init__(
        self, n_columns: int, functions: list[FunctionSpec], templates: list[list[tuple[int, int]]]
    ) -> None: ...
    def copy(self) -> FeatureMap: ...
    def sizes(self) -> I64: ...
    def bytes(self) -> int: ...
    def fit(self, columns: Columns, sentences: I64, threads: int = 1) -> tuple[I32, list[I32]]: ...
    def transform(self, columns: Columns, sentences: I64) -> tuple[I32, list[I32]]: ...
    def add_strings(self, column: int, data: U8, offsets: I64, threads: int = 1) -> None: ...
    def release_tables(self) -> None: ...
    def intern_pairs(self, template: int, first: I32, second: I32) -> I32: ...
    def values_of(self, function: int) -> I32: ...
    def absorb(self, other: FeatureMap) -> list[I32]: ...
    def strings(self, column: int) -> tuple[U8, I64]: ...
    def values(self, function: int) -> tuple[U8, I64]: ...
    def keys(self, template: int) -> tuple[U64, U64]: ...
    def restore(
        self, strings: list[tuple[U8, I64]], values: list[tuple[U8, I64]], keys: list[tuple[U64, U64]]
    ) -> None: ...

# listing.cpp
def list_features(
    local: I32,
    bases: I64,
    wanted: NDArray[np.bool_],
    ready: tuple[I64, I32, F32 | None] | None,
    kept: NDArray[np.bool_] | None,
    last: int,
) -> tuple[I64, I32, F32 | None]: ...

# counting.cpp
Table = tuple[I64, I32, I64]

def count_table(contexts: I32, labels: I32, n_contexts: int, n_labels: int) -> Table: ...
def occurrences(ids: I32, n: int) -> I64: ...
def count_tables(contexts: I32, labels: I32, sizes: I64, n_labels: int, threads: int = 1) -> Table: ...
def adjust_table(
    offsets: I64, labels: I32, counts: I64, token_contexts: I32, token_labels: I32, change: int
) -> None: ...
def count_entries(keys: U64, labels: I32, first: int, bits: int) -> tuple[U64, I64]: ...
def merge_entries(entries: U64, by_place: bool) -> U64: ...
def count_pairs(labels: I32, offsets: I64, n_labels: int) -> tuple[I32, I32, I64]: ...

# clustering.cpp
Neighbours = tuple[I64, I32, I32]

def count_neighbours(words: I32, sentences: I64, n_words: int) -> tuple[Neighbours, Neighbours]: ...
def exchange_classes(
    before: Neighbours, after: Neighbours, classes: I32, n_classes: int, threads: int = 1
) -> tuple[int, float, float]: ...

# ladder.cpp
class Ladder:
    def __init__(self, offsets: I64, labels: I32, counts: I64, rung_ids: I32, n_labels: int) -> None: ...
    def derive(self, rung_k: list[float], rare: list[int], word_k: float, prior_k: float) -> None: ...
    def distribution(self, word: int, left_out: int = -1) -> F64: ...
    def word_rows(self, threshold: float, cap: int) -> tuple[I64, I32, F32]: ...
    def rung_shares(self, rung: int) -> tuple[I64, I32, F32]: ...
    def lattice(
        self,
        words: I32,
        ids: I32,
        left: Table,
        right: Table,
        class_left: Table,
        class_right: Table,
        class_of: I32,
        classes: Table,
        pair_k: float,
        class_k: float,
        rare: int,
        threshold: float,
        cap: int,
        left_out: I32 | None,
    ) -> tuple[I64, I32, F32, F32, F32, F32, U8]: ...

def class_contexts(
    keys: U64, pairs: Table, word_is_first: bool, class_of: I32, totals: I64, rare: int, n_labels: int
) -> tuple[U64, I64, I32, I64]: ...
def context_weights(
    table: Table, centre: I32, rows: tuple[I64, I32, F32], k: float, weight: float
) -> tuple[I64, I32, F32]: ...

# lattice.cpp
class Edges:
    @property
    def n_labels(self) -> int: ...
    @property
    def local(self) -> bool: ...
    @staticmethod
    def dense(scores: F32, local: bool = False, triples: tuple[I64, I32, F32] | None = None) -> Edges: ...
    @staticmethod
    def sparse(
        offsets: I64,
        to: I32,
        scores: F32,
        row: F32,
        col: F32,
        weight: float,
        local: bool = False,
        triples: tuple[I64, I32, F32] | None = None,
    ) -> Edges: ...
    def at(self, y: int, z: int) -> float: ...
    def triple(self, y: int, z: int, w: int) -> float: ...
    def without(self, forbidden: U8) -> Edges | None: ...

class EdgeFeatureWeights:
    def __init__(self, offsets: I64, pairs: I32, scores: F32) -> None: ...
    def at(self, feature: int, pair: int) -> float: ...

EdgeFeatures = tuple[I64, I32, EdgeFeatureWeights]

def viterbi(
    sentences: I64,
    offsets: I64,
    labels: I32,
    scores: F32,
    edges: Edges,
    extra: EdgeFeatures | None = None,
    threads: int = 1,
) -> tuple[I32, F32]: ...
def forward_backward(
    sentences: I64,
    offsets: I64,
    labels: I32,
    scores: F32,
    edges: Edges,
    extra: EdgeFeatures | None = None,
    with_pairs: bool = False,
    threads: int = 1,
) -> tuple[F64, F32, F32]: ...

# paths.cpp
SpanLabels = tuple[I32, U8, U8]

class Paths:
    def __init__(
        self,
        sentences: I64,
        offsets: I64,
        labels: I32,
        scores: F32,
        edges: Edges,
        extra: EdgeFeatures | None,
        allowed: U8 | None,
        forbidden: U8 | None,
        blocks: SpanLabels | None,
        threads: int,
    ) -> None: ...
    def best(self) -> tuple[I32, F64]: ...
    def n_best(self, n: int, names: list[str]) -> tuple[list[list[tuple[list[str], float]]], F64]: ...
    def through(self) -> F64: ...
    def traces(self, places: I64, tokens: I64, candidates: I64) -> tuple[I32, F64]: ...
    def sums(self) -> tuple[F64, F64]: ...
    def marginals(self, with_pairs: bool) -> tuple[F64, F64, F64]: ...
    def span_probabilities(self, places: I64, starts: I64, stops: I64, groups: I32, labels: SpanLabels) -> F64: ...
    def sample(self, n: int, seed: int) -> I32: ...

# engine.cpp
Rows = tuple[I64, I32, F32]

Ready = tuple[I64, I32, F32 | None]
Parts = tuple[I64, I32, int]

class Engine:
    def __init__(
        self,
        map: FeatureMap,
        edges: Edges,
        bias: F32,
        word_column: int,
        rows: Rows,
        rung_functions: list[int],
        rung_bases: list[int],
        linear: Rows,
        edge_weights: Rows,
        first_feature: int,
        all_labels: bool,
        floor: float,
        unseen: tuple[Any, ...] | None,
        parts: Parts | None,
        names: AttributeNames | None,
        labels: list[str],
    ) -> None: ...
    def tag_columns(self, columns: Columns, sentences: I64, ready: Ready | None, threads: int) -> I32: ...
    def lattice(
        self,
        columns: Columns,
        sentences: I64,
        ready: Ready | None,
        threads: int = 1,
        more: tuple[I64, I32] | None = None,
    ) -> tuple[I64, I32, F32, I64, I32]: ...
    def tag_sentence(self, words: list[str] | None, features: Any) -> list[str] | None: ...
    def tag_features(self, features: Any) -> list[str]: ...
    def tag_text(
        self,
        data: bytes,
        labels: list[str],
        positions: list[int],
        separator: str,
        comment: str,
        threads: int,
        first_line: int,
    ) -> tuple[bytes, int]: ...
    def tag_conllu(
        self,
        data: bytes,
        positions: list[int],
        targets: list[int],
        texts: list[list[str]],
        key: str,
        threads: int,
        first_line: int,
    ) -> tuple[bytes, int]: ...

# pooling.cpp
def expert_evidence(
    table: Table,
    features: tuple[I64, I32],
    expert_of: I32,
    n_experts: int,
    candidates: tuple[I64, I32],
    prior: F64,
    k: float,
    left_out: I32 | None,
) -> F32: ...
def pooled_scores(
    table: Table,
    features: tuple[I64, I32],
    feature_weight: F32,
    candidates: tuple[I64, I32],
    prior: F64,
    k: float,
    left_out: I32 | None,
    threads: int = 1,
) -> F32: ...
def conditional_logit(
    x: F32, candidates: tuple[I64, I32], gold: I64, theta: F64, n_labels: int
) -> tuple[float, F64, F64]: ...
def pair_expectations(sentences: I64, candidates: tuple[I64, I32], posteriors: F32, scores: F64) -> F64: ...

# rows.cpp
_Rows = tuple[I64, I32, F32]

def add_sparse_rows(a: _Rows, b: _Rows) -> _Rows: ...
def find_in_rows(offsets: I64, labels: I32, wanted: I32) -> I64: ...
def with_part_columns(rows: Csr, parts: Parts) -> tuple[I64, I32]: ...

# maxent.cpp
class Nodes:
    def __init__(
        self,
        slots: tuple[I64, I32],
        n_labels: int,
        features: tuple[I64, I32],
        values: F32 | None,
        candidates: tuple[I64, I32],
        base: F32 | None,
        counts: tuple[I64, I32, F32],
    ) -> None: ...
    @property
    def size(self) -> int: ...
    def objective(self, weights: F64, precision: float, threads: int) -> tuple[float, F64]: ...
    def pass_over(self, state: F32, order: I64, decay: F32, rate: float, batch: int, threads: int) -> float: ...
    def posteriors(self, weights: F32, logs: bool, threads: int) -> F32: ...

# long_vectors.cpp
def dot(a: F64, b: F64) -> float: ...
def inner_products(rows: F64, v: F64, own: Sequence[int] = ()) -> F64: ...
def combination(rows: F64, shares: F64, v: F64, own: float) -> F64: ...
def solve_positive_definite(a: F64, b: F64) -> F64 | None: ...
def exp(x: F64) -> F64: ...
def log(x: F64) -> F64: ...
def log1p(x: F64) -> F64: ...

# chains.cpp
Csr = tuple[I64, I32]

class Chains:
    def __init__(
        self,
        loss: str,
        n_labels: int,
        sentences: I64,
        node_slots: tuple[Csr, Csr],
        values: F32 | None,
        candidates: Csr | None,
        base: F32 | None,
        gold: I32,
        edge_slots: tuple[Csr, Csr] | None,
        sentence_weights: F32 | None,
        free_pairs: U8,
        triples: Csr | None = None,
        parts: Parts | None = None,
    ) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def n_pairs(self) -> int: ...
    def objective(self, weights: F64, precision: float, threads: int, exact: bool = False) -> tuple[float, F64]: ...
    def pass_over(self, state: F32, order: I64, decay: F32, rate: float, batch: int, threads: int) -> float: ...
    def descend(self, state: F32, order: I64, shrink: float, rate: float, time: float) -> float: ...
    def perceptron(self, state: F32, order: I64, time: float, step: float) -> F32: ...
    def passive_aggressive(
        self, state: F32, order: I64, time: float, step: float, type: int, c: float, error_sensitive: bool
    ) -> F32: ...
    def best(self, weights: F32, threads: int) -> I32: ...

# pairs.cpp

class Pairs:
    def __init__(
        self,
        n_labels: int,
        sentences: I64,
        candidates: Csr,
        left: F32,
        right: F32,
        gold: I32,
        node_slots: tuple[Csr, Csr] | None,
        edge_slots: tuple[Csr, Csr] | None,
        weights: F32 | None = None,
    ) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def n_edges(self) -> int: ...
    def objective(self, weights: F64, precision: float, threads: int) -> tuple[float, F64]: ...
    def pass_over(self, state: F32, order: I64, decay: F32, rate: float, batch: int, threads: int) -> float: ...

# graphs.cpp
_CliqueArrays = tuple[I64, I32, I32, I32]

def eliminate(sizes: I64, edges: I32, last: U8, tries: int, seed: int) -> tuple[_CliqueArrays, I32, float, int]: ...
def count_scopes(
    columns: Sequence[NDArray[Any]], sizes: I64, offsets: I64, variables: I32, weights: F64 | None, threads: int
) -> F64: ...
def mutual_information(columns: Sequence[NDArray[Any]], sizes: I64, threads: int) -> F64: ...
def count_bytes(bytes: U8) -> I64: ...
def pack_bytes(numbers: I64) -> U8 | None: ...

class CliqueTree:
    def __init__(
        self,
        sizes: I64,
        tree: _CliqueArrays,
        factor_offsets: I64,
        factor_variables: I32,
        factor_starts: I64,
        factor_values: F64,
    ) -> None: ...
    def log_sums(self, variables: I32, states: I32, threads: int) -> F64: ...
    def margins(self, variables: I32, states: I32, threads: int) -> tuple[F64, F64]: ...
    def first_clique(self, variables: I32, states: I32, threads: int) -> tuple[F64, F64]: ...
    def most_likely(self, variables: I32, states: I32, threads: int) -> tuple[F64, I32]: ...
    def draw(self, variables: I32, states: I32, n: int, seed: int) -> tuple[F64, I32]: ...
    def expected(self, variables: I32, states: I32, weights: F64) -> tuple[F64, F64]: ...
    def entropy(self, variables: I32, states: I32) -> float: ...
