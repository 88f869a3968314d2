"""Graphs in CSV files: what is read, and messages that name the file and the line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import corate
from corate.errors import DataError

NODES = "id,year,venue,subject\np,1998,ICML,Theory\nq,1999,JMLR,\nr,2001,ICML,Nets\n"
EDGES = "from,to,type,weight\nq,p,cites,1\nr,q,cites,0.5\np,r,author,2\n"


def named_edges(corpus):
    """The edges of all graphs, by the names of their graphs and nodes."""
    names = corpus.column("node").values()
    graphs = [column.values() for column in corpus.columns if column.name == "graph"] or [["" for _ in names]]
    return {
        (edges.type, graphs[0][left], names[left], names[right])
        for edges in corpus.edges
        for left, right in edges.ends(corpus.offsets).tolist()
    }


@pytest.fixture
def read(tmp_path):
    """Reads two texts from files."""

    def read_texts(nodes=NODES, edges=EDGES, **options):
        for name, text in (("nodes.csv", nodes), ("edges.csv", edges)):
            (tmp_path / name).write_text(text, encoding="utf-8")
        return corate.read_graph(tmp_path / "nodes.csv", edges=tmp_path / "edges.csv", **options)

    return read_texts


# -- what is read ----------------------------------------------------------------------------------------------------


def test_numbers_become_vectors_and_texts_become_columns(read):
    corpus = read(label="subject")
    assert corpus.vectors.tolist() == [[1998], [1999], [2001]]
    assert [column.name for column in corpus.columns] == ["node", "venue"]
    assert corpus.column("node").values() == ["p", "q", "r"]
    assert corpus.labels_of(0) == ["Theory", None, "Nets"]
    assert corpus.layout == ("node", "venue", "year:number", "label")


def test_types_and_features_of_edges_are_read(read):
    corpus = read(symmetric={"author"})
    assert named_edges(corpus) == {("cites", "", "q", "p"), ("cites", "", "r", "q"), ("author", "", "p", "r")}
    cites, author = corpus.edges
    assert (cites.symmetric, author.symmetric) == (False, True)
    assert (cites.attributes.tolist(), author.attributes.tolist()) == ([[1.0], [0.5]], [[2.0]])
    assert corpus.labels is None


def test_columns_are_chosen_by_name(read):
    corpus = read(node="id", columns=["venue", "year"], ends=("to", "from"), edge_numbers=[])
    assert (corpus.vectors, [column.name for column in corpus.columns]) == (None, ["node", "venue", "year"])
    assert ("cites", "", "p", "q") in named_edges(corpus)
    assert corpus.edges[0].attributes is None
    only = read(numbers=["year"], columns=[])
    assert [column.name for column in only.columns] == ["node"]
    assert read(columns=[]).vectors.shape == (3, 1)
    rest = read(numbers=["year"])
    assert [column.name for column in rest.columns] == ["node", "venue", "subject"]


def test_the_type_can_be_in_another_column(read):
    corpus = read(edges="from,to,relation\nq,p,cites\n", type="relation")
    assert [edges.type for edges in corpus.edges] == ["cites"]
    assert [edges.type for edges in read(edges="from,to\nq,p\n").edges] == ["edge"]


def test_a_layout_reads_the_same_columns_in_the_same_order(read):
    train = "id,b,a,text,y\np,1,2,u,X\nq,3,4,v,Y\n"
    layout = read(train, "l,r\np,q\n", label="y").layout
    new = "extra,text,a,b,id\n7,8,2,1,p\n7,8,4,3,q\n"
    corpus = read(new, "l,r\np,q\n", node="id", layout=layout)
    assert corpus.vectors.tolist() == [[1, 2], [3, 4]]
    assert corpus.column("text").values() == ["8", "8"]
    assert [column.name for column in corpus.columns] == ["node", "text"]
    assert read(new, "l,r,type\np,q,a\n", node="id", layout=layout, symmetric={"b"}).edges[0].symmetric is False
    with pytest.raises(DataError, match="there is no column 'a'"):
        read("id,b,text\np,1,u\nq,2,u\n", "l,r\np,q\n", layout=layout)


def test_features_of_edges_have_the_order_of_their_names(read):
    one = read(edges="from,to,b,a\nq,p,1,2\n").edges[0].attributes
    other = read(edges="from,to,a,b\nq,p,2,1\n").edges[0].attributes
    assert one.tolist() == other.tolist() == [[2, 1]]
    assert read(edges="from,to,b,a\nq,p,1,2\n", edge_numbers=["b", "a"]).edges[0].attributes.tolist() == [[1, 2]]


def test_a_type_without_values_has_no_features(read):
    corpus = read(edges="from,to,type,w\nq,p,cites,1\np,r,author,\n")
    assert [edges.attributes is None for edges in corpus.edges] == [False, True]


GRAPHS = "form,id,text,y\na,1,x,X\na,2,y,Y\nb,1,z,\n"


def test_graphs_are_told_apart_by_a_column(read):
    corpus = read(GRAPHS, "form,l,r\na,1,2\n", graph="form", node="id", label="y")
    assert (len(corpus), corpus.offsets.tolist()) == (2, [0, 2, 3])
    assert [corpus.labels_of(i) for i in range(2)] == [["X", "Y"], [None]]
    assert corpus.column("graph").values() == ["a", "a", "b"]
    assert named_edges(corpus) == {("edge", "a", "1", "2")}
    assert named_edges(corpus[1]) == set()


def test_distinct_names_need_no_graph_in_the_file_of_edges(read):
    corpus = read("form,id\na,1\na,2\nb,3\nb,4\n", "l,r\n3,4\n2,1\n4,3\n", graph="form", node="id")
    assert named_edges(corpus) == {("edge", "b", "3", "4"), ("edge", "b", "4", "3"), ("edge", "a", "2", "1")}


def test_other_separators_and_encodings_are_read(read, tmp_path):
    tabs = read(NODES.replace(",", "\t"), EDGES.replace(",", ";"))
    assert named_edges(tabs) == named_edges(read())
    corpus = corate.read_graph("id,w\nä,ö\n".encode("latin-1"), edges=b"l,r\n", encoding="latin-1")
    assert (corpus.column("node").values(), corpus.column("w").values()) == (["ä"], ["ö"])
    assert len(corpus.edges[0].left) == 0


# -- what is refused -------------------------------------------------------------------------------------------------

REFUSED = [
    ("id,y\n", "l,r\n", {}, "nodes.csv: there are no nodes"),
    ("", "l,r\n", {}, "nodes.csv is empty"),
    ("id,y\np,a\n,b\n", "l,r\n", {}, "nodes.csv, line 3: column 'id' has no value"),
    ("id,y\np,a\n\np,b\n", "l,r\n", {}, "nodes.csv, line 4: the node 'p' is also in line 2"),
    ("id,y,y\np,a,b\n", "l,r\n", {}, "2 columns named 'y'"),
    ("id,y\np,a,b\n", "l,r\n", {}, "nodes.csv, line 2: the row has 3 fields"),
    (NODES, EDGES, {"label": "class"}, "nodes.csv: there is no column 'class'; the columns are 'id', 'year'"),
    (NODES, EDGES, {"graph": "form"}, "there is no column 'form'"),
    (NODES, EDGES, {"type": "kind"}, "edges.csv: there is no column 'kind'"),
    (NODES, EDGES, {"symmetric": {"cite"}}, "edges.csv: symmetric names the type 'cite'.* 'cites', 'author'"),
    (NODES, "l\np\n", {}, "edges.csv: two columns with the names"),
    (NODES, "l,r\np,q\nq,s\n", {}, "edges.csv, line 3: there is no node 's' in .*nodes.csv"),
    (NODES, "l,r\np,q\nq,q\n", {}, "edges.csv, line 3: both ends are node 'q'"),
    (NODES, "l,r,type\np,q,\n", {}, "edges.csv, line 2: column 'type' has no value"),
    (NODES, "l,r,w\np,q,1\nq,p,1\np,q,2\n", {}, "edges.csv, line 4: the edge is also in line 2, with other features"),
    (NODES, "l,r,w\np,r,1\np,q,1\nq,p,2\n", {"symmetric": "edge"}, "edges.csv, line 4: the edge is also in line 3"),
    (NODES, "l,r,w\np,q,a\n", {}, "edges.csv, line 2: column 'w' has 'a', which is not a number; .*edge_numbers="),
    (NODES, "l,r,w\np,q,1\nq,r,\n", {}, "edges.csv, line 3: column 'w' has no value"),
    (NODES, "l,r,w\np,q,inf\n", {}, "edges.csv, line 2: column 'w' has the value inf"),
    ("id,n\np,1\nq,\n", "l,r\n", {}, "nodes.csv, line 3: column 'n' has no value"),
    ("id,n\np,1\nq,nan\n", "l,r\n", {}, "nodes.csv, line 3: column 'n' has the value nan"),
    ("id,n\np,1\nq,x\n", "l,r\n", {"numbers": ["n"]}, "nodes.csv, line 3: column 'n' has 'x'.*columns="),
    ("id,label\np,X\n", "l,r\n", {}, "nodes.csv: a column of texts cannot have the name 'label'; write label='label'"),
    ("id,g\np,a\nq,b\nr,a\n", "l,r\n", {"graph": "g"}, "nodes.csv, line 4: graph 'a' comes back after others"),
    ("id,g\np,a\nq,\n", "l,r\n", {"graph": "g"}, "nodes.csv, line 3: the node has no graph; fill in column 'g'"),
    (
        "id,g\np,a\np,b\n",
        "l,r\n",
        {"graph": "g"},
        "line 3: the node 'p' is also in line 2; give the edges a column 'g'",
    ),
    ("id,g\np,a\nq,b\n", "l,r\np,q\n", {"graph": "g"}, "line 2: the nodes 'p' and 'q' are in different graphs"),
    ("id,g\np,a\nq,b\n", "l,r,g\np,q,a\n", {"graph": "g"}, "line 2: there is no node 'q' in graph 'a' of .*nodes.csv"),
]


@pytest.mark.parametrize(("nodes", "edges", "options", "message"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_bad_tables_are_refused_with_the_file_and_the_line(read, nodes, edges, options, message):
    with pytest.raises(DataError, match=message):
        read(nodes, edges, **options)


@given(st.integers(0, 2**32 - 1))
def test_a_written_graph_reads_as_it_was(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, rng.integers(1, 4)).tolist()
    nodes, edges, wanted = ["graph,node,n,y"], ["left,right,type,graph,w"], {}
    for graph, size in enumerate(sizes):
        nodes += [
            f"g{graph},{v},{rng.integers(100)},{'AB'[rng.integers(2)] if rng.random() < 0.7 else ''}"
            for v in range(size)
        ]
        for left, right in np.argwhere(rng.random((size, size)) < 0.4).tolist():
            if left != right:
                wanted["ab"[rng.integers(2)], f"g{graph}", str(left), str(right)] = int(rng.integers(100))
    for (kind, graph, left, right), weight in sorted(wanted.items(), key=lambda _: rng.random()):
        edges.append(f"{left},{right},{kind},{graph},{weight}")
    corpus = corate.read_graph(
        "\n".join(nodes).encode(), edges="\n".join(edges).encode(), graph="graph", node="node", label="y"
    )
    assert np.diff(corpus.offsets).tolist() == sizes
    assert named_edges(corpus) == wanted.keys()
    rows = [row.split(",") for row in nodes[1:]]
    assert corpus.labels.values() == [row[3] or None for row in rows]
    assert corpus.vectors[:, 0].tolist() == [float(row[2]) for row in rows]
    found = {
        (e.type, f"g{g}", str(a), str(b)): w
        for e in corpus.edges
        for g, a, b, w in zip(
            e.owners, e.left, e.right, (e.attributes if e.attributes is not None else []), strict=True
        )
    }
    assert {key: float(weight[0]) for key, weight in found.items()} == wanted


def test_a_column_graph_tells_graphs_apart_by_itself(read):
    nodes = "graph,id,y\na,1,A\na,2,B\nb,1,B\n"
    corpus = read(nodes, "graph,l,r\na,1,2\n", label="y")
    assert (len(corpus), corpus.column("node").values()) == (2, ["1", "2", "1"])
    assert (corpus.layout, corpus.label_source) == (("node", "graph", "label"), "y")
    named = read("id,graph\n1,x\n2,y\n", "l,r\n1,2\n", label="graph")  # the label has this name
    assert (len(named), named.labels_of(0)) == (1, ["x", "y"])
