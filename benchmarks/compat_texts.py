"""Made-up texts for the clients of `benchmarks.compat`: a few words of each language in random order, and HTML."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from corate.demo.addresses import addresses

__all__ = ["TEXTS"]

_KHMER = "ខ្ញុំ អ្នក គាត់ ទៅ មក ស្រឡាញ់ ញ៉ាំ បាយ ទឹក ផ្ទះ សាលា ភាសា ខ្មែរ ប្រទេស កម្ពុជា ថ្ងៃនេះ ស្អែក ល្អ ធំ តូច និង នៅ ក្នុង មាន សៀវភៅ ច្រើន"
_THAI = "ฉัน เธอ เขา ไป มา รัก กิน ข้าว น้ำ บ้าน โรงเรียน ภาษา ไทย ประเทศ วันนี้ พรุ่งนี้ ดี ใหญ่ เล็ก และ อยู่ ใน มี หนังสือ มาก ครับ ค่ะ"
_VIETNAMESE = (
    "tôi bạn anh ấy đi đến yêu ăn cơm nước nhà trường học tiếng Việt Nam đất nước hôm "
    "nay ngày mai tốt lớn nhỏ và ở trong có sách nhiều Hà Nội"
)
_KOREAN = (
    "나는 너는 그는 학교에 집에 갑니다 왔다 사랑한다 밥을 물을 먹는다 마신다 한국어를 "
    "배운다 오늘 내일 좋은 큰 작은 그리고 책이 많이 있다"
)
_BURMESE = "ကျွန်တော် မင်း သူ သွား လာ ချစ် စား ထမင်း ရေ အိမ် ကျောင်း ဘာသာ မြန်မာ နိုင်ငံ ဒီနေ့ မနက်ဖြန် ကောင်း ကြီး သေး နှင့် တွင် ရှိ စာအုပ် များ"
_FIELDS = {
    "username": "text", "email": "email", "password": "password", "password2": "password", "q": "text", "name": "text",
    "phone": "tel", "subject": "text", "remember": "checkbox", "csrf": "hidden", "captcha": "text", "address": "text",
}  # fmt: skip
_FORMS = {
    "Log in": ("username", "password", "remember"),
    "Search": ("q",),
    "Sign up": ("name", "email", "password", "password2", "captcha"),
    "Send": ("name", "email", "subject", "phone"),
    "Subscribe": ("email",),
    "Reset password": ("email", "captcha"),
    "Order": ("name", "address", "phone"),
}


def _texts(words: str, space: str, *, least: int = 8, most: int = 30) -> Callable[[int], list[str]]:
    """Texts of random words, with a space between some."""

    def of(n: int) -> list[str]:
        rng, vocabulary = np.random.default_rng(0), words.split()
        return [
            "".join(
                word + (" " if space or rng.random() < 0.15 else "")
                for word in rng.choice(vocabulary, rng.integers(least, most)).tolist()
            ).strip()
            for _ in range(n)
        ]

    return of


def _labelled(n: int) -> list[Any]:
    """Addresses as tokens and labels, without punctuation, which usaddress takes only with a word."""
    return [[pair for pair in line if any(map(str.isalnum, pair[0]))] for line in addresses(n, 2)]


def _names(n: int) -> list[str]:
    found = ([token for token, label in line if label.endswith("-NAME")] for line in addresses(3 * n, 1))
    return [" ".join(tokens) for tokens in found if tokens][:n]


def _pages(n: int) -> list[str]:
    """Web pages with links to other pages of a list, and others."""
    rng = np.random.default_rng(0)
    pages = []
    for _ in range(n):
        base, here = f"/{rng.choice(['list', 'news', 'forum', 'shop'])}", int(rng.integers(2, 9))
        items = "".join(f'<li><a href="{base}/item-{i}">Item {i}</a></li>' for i in rng.integers(100, 999, 12))
        link = [f"?page={k}" if rng.random() < 0.7 else f"/page/{k}" for k in range(12)]
        numbers = "".join(f'<a class="page" href="{base}{link[k]}">{k}</a> ' for k in range(1, 10) if k != here)
        prev, later = rng.choice(["Previous", "&laquo;", "Back"]), rng.choice(["Next", "&raquo;", "More"])
        ends = [
            f'<a href="{base}{link[here - 1]}">{prev}</a>',
            f'<a rel="next" href="{base}{link[here + 1]}">{later}</a>',
        ]
        pages.append(
            f'<html><body><a href="/">Home</a><ul>{items}</ul><div class="pagination">{ends[0]} {numbers}{ends[1]}'
            '</div><a href="/about">About us</a></body></html>'
        )
    return pages


def _forms(n: int) -> list[str]:
    """Web pages with a form."""
    rng = np.random.default_rng(0)
    pages = []
    for _ in range(n):
        title = str(rng.choice(list(_FORMS)))
        names = [*_FORMS[title], *rng.choice(list(_FIELDS), rng.integers(0, 3)).tolist()]
        fields = "".join(
            f'<label>{f.title()}</label><input type="{_FIELDS[f]}" name="{f}">' for f in dict.fromkeys(names)
        )
        pages.append(
            f'<html><body><form action="/{title.lower().replace(" ", "-")}" method="post">{fields}'
            f'<input type="submit" value="{title}"></form></body></html>'
        )
    return pages


#: Texts by kind: the first `n`.
TEXTS: dict[str, Callable[[int], list[Any]]] = {
    "addresses": lambda n: [" ".join(token for token, _ in line) for line in addresses(n, 0)],
    "labelled": _labelled,
    "names": _names,
    "khmer": _texts(_KHMER, ""),
    "thai": _texts(_THAI, ""),
    "vietnamese": _texts(_VIETNAMESE, " "),
    "korean": _texts(_KOREAN, " "),
    "burmese": _texts(_BURMESE, ""),
    "pages": _pages,
    "forms": _forms,
}
