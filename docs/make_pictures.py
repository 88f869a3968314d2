"""Draws three pictures of the documentation: `python docs/make_pictures.py docs/images`.

``segments.svg``: a made-up image, its true regions, and those found without and with neighbours.
``network.svg``: a made-up citation network with the labels that were found.
``graph-model.svg``: the graph model of the survey in docs/graphs.md.
"""

import sys
from itertools import groupby
from pathlib import Path

import numpy as np

import corate
from corate.graphs import GraphModel, Tree

#: The size of a pixel in the picture, the space between panels, and the space for their titles.
SIDE, SPACE, TOP = 7, 22, 26
#: The colours of regions: the ground, the square and the disc.
COLOURS = ("#e8e4da", "#2b7fd0", "#c8622a")
GROUND = "svg{color:#1d2329;background:#fff}@media(prefers-color-scheme:dark){svg{color:#e4e8ec;background:#14181c}}"


def scene(rng):
    """A noisy image with a square and a disc, and the region of each pixel: 0, 1 or 2."""
    rows, columns = np.indices((24, 24))
    top, left, middle = rng.integers(1, 5), rng.integers(1, 14), rng.integers(6, 18)
    regions = np.zeros((24, 24), int)
    regions[top : top + 9, left : left + 9] = 1
    regions[(rows - 17) ** 2 + (columns - middle) ** 2 < 30] = 2
    return 0.5 * regions + rng.normal(0, 0.35, regions.shape), regions


def panel(colours, x, title):
    """A panel from the colours of its pixels: a path for each run of a colour in a row."""
    middle = x + len(colours[0]) * SIDE / 2
    parts = [f'<text x="{middle:g}" y="17" text-anchor="middle" fill="currentColor">{title}</text>']
    for row, pixels in enumerate(colours):
        start = 0
        for colour, run in groupby(pixels):
            n = len(list(run))
            place = f'x="{x + start * SIDE:g}" y="{TOP + row * SIDE}" width="{n * SIDE}" height="{SIDE}"'
            parts.append(f'<rect {place} fill="{colour}"/>')
            start += n
    return parts


def grey(value):
    """The colour of a value of the image, in steps of a sixteenth."""
    level = round(min(max((value + 0.5) / 2, 0), 1) * 16) * 255 // 16
    return f"#{level:02x}{level:02x}{level:02x}"


def segments(path):
    """Train on twenty images with edges and without, and draw the answers about another one."""
    rng = np.random.default_rng(0)
    images, regions = zip(*(scene(rng) for _ in range(21)), strict=True)
    corpus = corate.Corpus.from_images(images, regions)
    pixels = [image.reshape(-1, 1) for image in images]
    alone = corate.Corpus.from_graphs(pixels, [own.ravel() for own in regions], edges=[{}] * len(images))
    panels = {"image": [[grey(value) for value in row] for row in images[20]], "regions": regions[20]}
    for title, own in {"each pixel by itself": alone, "with its neighbours": corpus}.items():
        labels = corate.train(own[:20]).tag(own[20])
        panels[title] = np.array(labels, int).reshape(24, 24)
    parts = []
    for k, (title, own) in enumerate(panels.items()):
        colours = own if title == "image" else [[COLOURS[label] for label in row] for row in own.tolist()]
        parts += panel(colours, SPACE + k * (24 * SIDE + SPACE), title)
    width, height = SPACE + 4 * (24 * SIDE + SPACE), TOP + 24 * SIDE + SPACE // 2
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}" width="{width}"'
    look = f'height="{height}" font-family="system-ui, sans-serif" font-size="14" shape-rendering="crispEdges"'
    name = "<title>A noisy image, and its regions without and with neighbours</title>"
    body = "\n".join(parts)
    Path(path).write_text(f"{head} {look}>\n{name}<style>{GROUND}</style>\n{body}\n</svg>\n", encoding="utf-8")


def network(path):
    """Draw a network of 45 papers, of which 15 have a known label, with the labels of all."""
    rng = np.random.default_rng(1)
    subjects = {"Logic": ["proof", "axiom"], "Nets": ["layer", "weight"], "Theory": ["bound", "margin"]}
    names, every = list(subjects), [word for own in subjects.values() for word in own]
    truth = [names[k] for k in rng.integers(3, size=45)]
    words = [str(rng.choice(subjects[s] if rng.random() < 0.6 else every)) for s in truth]
    cites = set()
    for a in range(1, 45):
        same = [b for b in range(a) if truth[b] == truth[a]]
        for _ in range(2):
            cites.add((a, int(rng.choice(same if same and rng.random() < 0.93 else range(a)))))
    known = {int(node): truth[node] for node in rng.permutation(45)[:15]}
    y = [known.get(node) for node in range(45)]
    corpus = corate.Corpus.from_graphs([[word] for word in words], y, edges={"cites": sorted(cites)})
    lattice = corate.train(corpus).lattice(corpus, constraints=[corate.Constraints(labels=known)])
    texts = [f"{word} *" if node in known else word for node, word in enumerate(words)]
    Path(path).write_text(lattice.draw(names=texts), encoding="utf-8")


def survey(path):
    """Draw the model of the survey in docs/graphs.md."""
    rng, n = np.random.default_rng(0), 4000
    age = rng.choice(["young", "middle", "old"], n)
    town = rng.choice(["city", "country"], n, p=[0.6, 0.4])
    car = np.where(rng.random(n) < np.where(town == "city", 0.4, 0.9), "yes", "no")
    train = np.where(rng.random(n) < np.where(car == "yes", 0.1, 0.7), "often", "seldom")
    answers = {"age": age, "town": town, "car": car, "train": train}
    Path(path).write_text(GraphModel.fit(answers, structure=Tree(forest=True)).draw(), encoding="utf-8")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    segments(folder / "segments.svg")
    network(folder / "network.svg")
    survey(folder / "graph-model.svg")
