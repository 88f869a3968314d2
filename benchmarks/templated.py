"""Made-up text of templates with closed vocabularies, as in recipes, forms, log lines and commands.

Each domain has templates of words and slots. A slot has a type, which becomes the labels ``B-TYPE`` and ``I-TYPE``, and
phrases to choose from, the first ones more often. Some phrases belong to several types, so that only their neighbours
tell the types apart. In some slots a part of the words is made up, so that the test sentences have unseen words. The
settings of the methods were chosen on the domains of ``DEVELOPMENT`` only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

Sentence = list[tuple[str, str]]

_ONSETS = [*"bcdfghklmnprstv", "br", "st", "tr", "gl"]
_VOWELS, _ENDS = [*"aeiou", "ai", "ou"], ["", "n", "r", "s", "l"]


@dataclass(frozen=True)
class Slot:
    """A type of phrases. ``made_up`` is the share of phrases that are made up by ``make``."""

    phrases: Sequence[str]
    made_up: float = 0.0
    make: Callable[[Random], str] | None = None

    def draw(self, random: Random, *, closed: bool) -> list[str]:
        """The tokens of a phrase. The k-th phrase of n has a probability that falls with k."""
        made_up = random.random() < self.made_up
        if self.make is not None and made_up and not closed:
            return self.make(random).split()
        return self.phrases[int(len(self.phrases) * random.random() ** 2)].split()


@dataclass(frozen=True)
class Domain:
    """Templates, the more frequent first, and the slots that they name in braces."""

    templates: Sequence[str]
    slots: Mapping[str, Slot]
    fillers: Sequence[str]  # words without a meaning for the labels, at any place between phrases
    lower: float = 0.2  # the share of sentences in lower case
    dropped: float = 0.1  # the share of words outside slots that are missing
    filled: float = 0.06  # the share of places with a filler
    misspelt: float = 0.03  # the share of words with two letters exchanged

    def sentence(self, random: Random, *, closed: bool = False) -> Sentence:
        """A labelled sentence; if ``closed``, without made-up phrases."""
        template = self.templates[int(len(self.templates) * random.random() ** 1.5)]
        found: Sentence = []
        for piece in template.split():
            if random.random() < self.filled:
                found += [(word, "O") for word in random.choice(self.fillers).split()]
            if not piece.startswith("{"):
                if random.random() >= self.dropped:
                    found.append((piece, "O"))
                continue
            name = piece.strip("{}")
            for place, word in enumerate(self.slots[name].draw(random, closed=closed)):
                found.append((word, f"{'I' if place else 'B'}-{name}"))
        found = [(_misspelt(word, random) if random.random() < self.misspelt else word, label) for word, label in found]
        if random.random() < self.lower:
            found = [(word.lower(), label) for word, label in found]
        return found or self.sentence(random, closed=closed)

    def sentences(self, n: int, seed: int, *, closed: bool = False) -> list[Sentence]:
        """Sentences that depend only on the seed; if ``closed``, without made-up phrases."""
        random = Random(seed)
        return [self.sentence(random, closed=closed) for _ in range(n)]


def _misspelt(word: str, random: Random) -> str:
    place = random.randrange(max(1, len(word) - 1))
    return word[:place] + word[place + 1 : place + 2] + word[place : place + 1] + word[place + 2 :]


def _word(random: Random) -> str:
    return "".join(
        random.choice(_ONSETS) + random.choice(_VOWELS) + random.choice(_ENDS) for _ in range(random.randint(2, 3))
    )


def _name(random: Random) -> str:
    return " ".join(_word(random).capitalize() for _ in range(random.randint(1, 2)))


def _number(random: Random) -> str:
    return str(random.choice([random.randint(1, 12), random.randint(10, 99), 5 * random.randint(20, 200)]))


def _code(random: Random) -> str:
    return random.choice("ABKRX") + random.choice("-/") + str(random.randint(100, 9999))


def _clock(random: Random) -> str:
    return f"{random.randint(0, 23)}:{random.randint(0, 59):02d}"


def _host(random: Random) -> str:
    return random.choice(["10.0", "192.168"]) + f".{random.randint(0, 40)}.{random.randint(1, 250)}"


def _path(random: Random) -> str:
    return "/" + "/".join(_word(random) for _ in range(random.randint(1, 3)))


def _split(text: str) -> list[str]:
    return [phrase.strip() for phrase in text.split("|")]


_NAMES = _split(
    "Anna Berg|Tom|Li Wei|Maria|Ahmed Khan|Eva|Jonas Lund|Priya|Oleg|Sara Costa|Noor|Ben|Ines Roth|Kofi|May|April"
)
_PLACES = _split(
    "Oslo|Lima|Paris|New York|Rome|Cairo|San Jose|Bern|Porto|Kyoto|Lyon|Graz|Cork|Tunis|Bath|Orange|Reading|Nice"
)
_NUMBERS = _split("1|2|3|4|half|6|8|10|12|100|1/2|1/4|two|200|250|500|a few|some|3 1/2|20")

DEVELOPMENT: dict[str, Domain] = {
    "recipes": Domain(
        [
            "{QTY} {UNIT} {ING}",
            "{QTY} {UNIT} {ING} , {PREP}",
            "{QTY} {ING}",
            "{QTY} {PREP} {ING}",
            "{ING} to taste",
            "{QTY} {UNIT} of {PREP} {ING} ( or {ING} )",
            "add {ING} and {ING} , {PREP}",
            "{ING} , {PREP} , for the {ING}",
            "{QTY} {UNIT} ( {QTY} {UNIT} ) {ING}",
            "1 {TOOL} of {ING}",
            "a {TOOL} for the {ING}",
        ],
        {
            "QTY": Slot(_NUMBERS, 0.1, _number),
            "UNIT": Slot(_split("cup|g|tsp|tbsp|cups|ml|kg|oz|pinch|clove|can|slice|stick|head|cloves|bunch|glass")),
            "ING": Slot(
                _split(
                    "sugar|salt|butter|flour|brown sugar|olive oil|garlic|onion|milk|egg|eggs|black pepper|cream|rice|"
                    "chicken|red wine|lemon|soy sauce|ginger|cloves|stock|cream cheese|ground beef|vanilla|mint|"
                    "baking powder|white fish|tomato paste|ground ginger|dried mint|ice|bread|bread crumbs|sour cream"
                ),
                0.35,
                _word,
            ),
            "PREP": Slot(
                _split(
                    "chopped|ground|melted|dried|finely chopped|fresh|sliced|beaten|at room temperature|white|red|"
                    "cut in half"
                ),
                0.15,
                _word,
            ),
            "TOOL": Slot(_split("can|glass|bowl|stick|baking dish|slice")),
        },
        _split("about|very|( optional )|or so|more|good|well"),
    ),
    "appointments": Domain(
        [
            "{WHAT} with {WHO} on {DAY} at {TIME}",
            "book {WHAT} {DAY} {TIME}",
            "move {WHAT} to {DAY}",
            "{WHO} {DAY} {TIME} {WHERE}",
            "meet {WHO} in {WHERE} {DAY}",
            "cancel {WHAT} with {WHO}",
            "{WHAT} : {WHO} , {WHERE} , {TIME}",
            "remind me of {WHAT} {TIME} before {TIME}",
            "{DAY} {TIME} {WHAT} ( {WHERE} )",
            "call {WHO} in {DAY}",
            "{WHO} in {WHERE} in {DAY}",
        ],
        {
            "WHO": Slot(_NAMES, 0.4, _name),
            "DAY": Slot(
                _split(
                    "Monday|Friday|tomorrow|next week|today|3 May|May|April|Sunday|next Tuesday|12 April|"
                    "the 3rd|March|2 June"
                )
            ),
            "TIME": Slot(_split("noon|9 am|10:30|3 pm|half past two|8|14:00|the evening|one hour|lunch"), 0.25, _clock),
            "WHAT": Slot(
                _split(
                    "lunch|meeting|dentist|board meeting|call|march|project review|yoga|call with Paris|dinner|review"
                ),
                0.25,
                _word,
            ),
            "WHERE": Slot([*_PLACES, *_split("room 3|the office|room 12|hall B|room 8")], 0.35, _name),
        },
        _split("please|maybe|again|, urgent|the|new|my"),
    ),
    "logs": Domain(
        [
            "{TIME} {LEVEL} {HOST} {PROC} : accepted connection from {HOST} port {NUM}",
            "{TIME} {HOST} {PROC} [ {NUM} ] : {LEVEL}",
            "{LEVEL} : cannot open {PATH} : {REASON}",
            "{TIME} {PROC} : user {USER} logged in from {HOST}",
            "{PROC} : {REASON} for user {USER} on {PATH}",
            "{TIME} {LEVEL} {PROC} took {NUM} ms",
            "{PROC} exited with {NUM} after {NUM} s",
            "{HOST} {TIME} GET {PATH} {NUM} {NUM}",
            "{USER} : {PROC} : {REASON}",
        ],
        {
            "TIME": Slot(["12:00", "0:00"], 0.9, _clock),
            "LEVEL": Slot(_split("INFO|WARN|ERROR|error|DEBUG|fatal|warning")),
            "HOST": Slot(_split("web1|db2|localhost|mail|backup|root"), 0.5, _host),
            "PROC": Slot(_split("sshd|cron|nginx|kernel|backup|mail|postgres|systemd|backup job|test"), 0.3, _word),
            "USER": Slot(_split("root|admin|anna|backup|test|guest|mail"), 0.5, _word),
            "PATH": Slot(_split("/|/index.html|/etc/passwd|/var/log|/tmp"), 0.6, _path),
            "NUM": Slot(_split("0|200|404|22|1|500"), 0.6, _number),
            "REASON": Slot(
                _split("timeout|no such file|permission denied|connection reset by peer|error|out of memory|test")
            ),
        },
        _split("-|[ 1 ]|retry|: :|id"),
    ),
}

FINAL: dict[str, Domain] = {
    "orders": Domain(
        [
            "{COUNT} x {ITEM} {COLOUR} {SIZE}",
            "{COUNT} {ITEM} , {COLOUR} , size {SIZE} , {PRICE}",
            "order {CODE} : {COUNT} {ITEM}",
            "ship {ITEM} to {CUSTOMER} , {CITY}",
            "{CUSTOMER} ( {CITY} ) : {COUNT} {COLOUR} {ITEM}",
            "{ITEM} {CODE} {PRICE}",
            "return of {CODE} by {CUSTOMER} : {COLOUR} {ITEM}",
            "total {PRICE} for {CUSTOMER}",
            "{COUNT} boxes of {SIZE} {ITEM} from {CITY}",
        ],
        {
            "COUNT": Slot(_NUMBERS[:12], 0.2, _number),
            "ITEM": Slot(
                _split(
                    "shirt|jeans|rain coat|socks|orange juice|table|table lamp|hat|winter coat|rose tea|mint tea|"
                    "cup|small box|scarf"
                ),
                0.35,
                _word,
            ),
            "COLOUR": Slot(_split("black|white|blue|red|dark blue|orange|rose|mint|light grey|green|cream")),
            "SIZE": Slot(_split("M|L|S|XL|small|large|40|extra large|38|10")),
            "CODE": Slot(["A-100"], 0.95, _code),
            "PRICE": Slot(_split("10 EUR|5 EUR|20 USD|free|100 EUR"), 0.5, lambda random: f"{_number(random)} EUR"),
            "CUSTOMER": Slot([*_NAMES, *_split("Rose Ltd|Black & Sons|Orange Inc|Berg AG")], 0.4, _name),
            "CITY": Slot(_PLACES, 0.3, _name),
        },
        _split("new|urgent|ca.|*|ASAP|old"),
    ),
    "commands": Domain(
        [
            "play {SONG} by {ARTIST}",
            "set the {DEVICE} in the {ROOM} to {VALUE}",
            "turn {STATE} the {DEVICE}",
            "turn the {ROOM} {DEVICE} {STATE}",
            "wake me at {VALUE}",
            "play {ARTIST} in the {ROOM}",
            "is the {DEVICE} {STATE} ?",
            "put {SONG} on in the {ROOM}",
            "{DEVICE} {STATE}",
            "{ROOM} {DEVICE} {VALUE}",
            "stop {SONG} and turn {STATE} {DEVICE} in {ROOM}",
        ],
        {
            "SONG": Slot(
                _split(
                    "Yellow|Hello|Lights Out|Kitchen Song|Blue in the Night|On the Radio|Stop|Africa|The Kitchen|Play"
                ),
                0.45,
                _name,
            ),
            "ARTIST": Slot(
                [*_split("The Lamps|Nina Bay|Radio Seven|Blue|The Doors|Prince|Africa Band"), *_NAMES[:5]], 0.45, _name
            ),
            "DEVICE": Slot(_split("light|lights|radio|heating|lamp|fan|doors|tv|coffee machine|light fan")),
            "ROOM": Slot(_split("kitchen|living room|bedroom|bath|hall|guest room|office")),
            "STATE": Slot(_split("on|off|up|down|low")),
            "VALUE": Slot(_split("20 degrees|7|half|low|blue|10 %|6:30|yellow|50 %"), 0.3, _clock),
        },
        _split("please|now|hey|again|my|the"),
    ),
    "travel": Domain(
        [
            "flights from {FROM} to {TO} on {DATE}",
            "{TO} from {FROM} {DATE}",
            "cheapest {CLASS} fare {FROM} to {TO}",
            "show {AIRLINE} flights to {TO}",
            "{AIRLINE} {CODE} {FROM} {TO} {DATE}",
            "{CLASS} to {TO} {DATE} with {AIRLINE}",
            "is there a flight to {TO} via {STOP} ?",
            "{DATE} : {FROM} - {STOP} - {TO}",
            "leave {FROM} after {TIME} arrive {TO} before {TIME}",
            "{TIME} {DATE} from {FROM}",
        ],
        {
            "FROM": Slot(_PLACES, 0.35, _name),
            "TO": Slot(_PLACES[::-1], 0.35, _name),
            "STOP": Slot(_PLACES[3:12], 0.35, _name),
            "DATE": Slot(_split("Monday|tomorrow|3 May|next Friday|the 5th|May|12 April|today|2 June|April 1")),
            "TIME": Slot(_split("noon|9 am|midnight|3 pm|8"), 0.5, _clock),
            "CLASS": Slot(_split("economy|business|first class|business class|one way|first")),
            "AIRLINE": Slot(_split("Nice Air|Orange|Delta|United|Air Porto|May Airways|Berg Air"), 0.3, _name),
            "CODE": Slot(["R-100"], 0.9, _code),
        },
        _split("please|a|cheap|the|or|around"),
    ),
}


def with_odd_labels(sentences: Sequence[Sentence], n: int, seed: int) -> list[Sentence]:
    """The sentences with ``n`` tokens that have a label which nothing else has."""
    random, found = Random(seed), [list(one) for one in sentences]
    for k in range(n):
        sentence = random.choice(found)
        place = random.randrange(len(sentence))
        sentence[place] = (sentence[place][0], f"B-ODD{k}")
    return found


def with_wrong_labels(sentences: Sequence[Sentence], share: float, seed: int, *, typos: bool = False) -> list[Sentence]:
    """The sentences with another label for a share of the tokens: a random one, or its own with a letter missing."""
    random = Random(seed)
    labels = sorted({label for one in sentences for _, label in one})

    def other(label: str) -> str:
        if typos:
            place = random.randrange(len(label))
            return label[:place] + label[place + 1 :] or "0"
        return random.choice([one for one in labels if one != label])

    return [[(word, other(label) if random.random() < share else label) for word, label in one] for one in sentences]
