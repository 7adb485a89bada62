# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Lines that are difficult for tokenizers. Deterministic; no line contains a line feed."""
import random
import unicodedata

CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF and c != 0x0A]


def every_code_point():
    """Each code point alone, inside a word, doubled, between marks, next to an ideograph and to punctuation."""
    for c in CODE_POINTS:
        x = chr(c)
        yield f"{x} a{x}b {x}{x} A{x}\u0301\u0323 e\u0301{x}\u0334 \u4e2d{x}. {x}9"


def every_pair_of_marks():
    """Canonical order: each pair of characters with a combining class in Python's Unicode version."""
    marks = [chr(c) for c in CODE_POINTS if unicodedata.combining(chr(c))]
    for first in marks:
        for begin in range(0, len(marks), 128):
            yield " ".join("o" + first + second + "n" for second in marks[begin : begin + 128])


def every_script(rng):
    """Words and sentences from each stretch of 128 code points: every script, with marks, joiners and punctuation."""
    glue = ["\u0301", "\u200d", "\u200c", "\u00ad", ",", "-", " ", "\ufe0f", "\u0345", "\u3099", "A", "7"]
    for begin in range(0, 0x32000, 128):
        block = [chr(c) for c in range(begin, begin + 128) if not 0xD800 <= c <= 0xDFFF and c != 0x0A]
        if not block:
            continue
        for _ in range(24):
            words = []
            for _ in range(rng.randint(1, 12)):
                word = "".join(
                    rng.choice(block) if rng.random() < 0.8 else rng.choice(glue) for _ in range(rng.randint(1, 9))
                )
                words.append(word)
            yield " ".join(words)


def noise(rng):
    """Random code points, from all of Unicode and from ranges that matter to the tokenizer."""
    nasty = [0, 1, 9, 0x0B, 0x0C, 0x0D, 0x1C, 0x1F, 0x7F, 0x80, 0x85, 0xA0, 0xAD, 0x130, 0x131, 0x149, 0x1E9E, 0x345, 0x34F]
    nasty += [0x390, 0x3A3, 0x3C2, 0x61C, 0x1160, 0x115F, 0x17B4, 0x180B, 0x180E, 0x200B, 0x200C, 0x200D, 0x200E, 0x2028]
    nasty += [0x2029, 0x202A, 0x2060, 0x2063, 0x212B, 0x2126, 0x2329, 0x3000, 0xAC00, 0xD7A3, 0xE000, 0xF8FF, 0xF900]
    nasty += [0xFB01, 0xFDFA, 0xFE00, 0xFE0F, 0xFEFF, 0xFFF9, 0xFFFC, 0xFFFD, 0xFFFE, 0xFFFF, 0x1D15E, 0x1D165, 0x1F600]
    nasty += [0x1F3FB, 0x1F1E6, 0x2A6DF, 0x2B81F, 0x2B820, 0x2B91F, 0x2B920, 0x2FA1D, 0xE0001, 0xE0061, 0xE01EF, 0x10FFFF]
    for _ in range(60000):
        out = []
        for _ in range(rng.randint(1, 40)):
            r = rng.random()
            if r < 0.35:
                out.append(chr(rng.choice(nasty)))
            elif r < 0.55:
                out.append(chr(rng.choice(CODE_POINTS)))
            elif r < 0.65:
                out.append(chr(rng.randint(0x300, 0x36F)))
            else:
                out.append(chr(rng.randint(0x20, 0x17F)))
        yield "".join(out)


def emoji():
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466"
    flag = "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
    yield f"{family} {flag} \U0001f1e9\U0001f1ea \u0031\ufe0f\u20e3 \U0001f44d\U0001f3fd \u2764\ufe0f\u200d\U0001f525"
    yield f"a{family}b{flag}c\U0001f1e9\U0001f1ea\u0023\ufe0f\u20e3"


def long_words():
    """Words near the limit of 100 characters, before and after normalisation, and far above it."""
    units = ["a", "A", "\u00e9", "e\u0301", "\u4e2d", "\uac00", "\u0301", "\u200b", ".", "\U0001f600", "\ue000", "\u0130", "ab1"]
    for unit in units:
        for count in (1, 33, 34, 49, 50, 51, 99, 100, 101, 199, 200, 201, 1000, 100000):
            yield unit * count
            yield "x " + unit * count + " y"
    yield "un" + "believable" * 10000
    yield "a\u0301" * 50000 + "." + "b" * 100 + "," + "c" * 101
    yield "\u0301" * 100000 + "a"
    yield "a" + "\u0323\u0301" * 50000
    yield " " * 100000 + "end"


def specials():
    names = ["[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]", "[unused0]", "[unused98]", "##ing", "##", "#", "[mask]"]
    for name in names:
        for pattern in ("%s", "a%sb", "%s%s" % (name, "%s"), "a %s b", "[%s]", "e\u0301%s\u0301e", "[[%s", "%s]]", "[MAS%s"):
            yield pattern % name
    yield ""
    yield "   \t \r "
    yield "[MASK"
    yield "[[MASK][MASK]]"


def all_lines():
    rng = random.Random(20240229)
    yield from specials()
    yield from emoji()
    yield from long_words()
    yield from every_script(rng)
    yield from noise(rng)
    yield from every_pair_of_marks()
    yield from every_code_point()
