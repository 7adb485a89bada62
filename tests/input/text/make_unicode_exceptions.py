#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Writes input/text/unicode_exceptions.hpp: where the tokenizers library differs from the Unicode library.

BERT's tokenizer in Hugging Face `tokenizers` has character tables of several Unicode versions: general categories of
8.0, normalisation of 9.0, lower-casing of its compiler. This script queries the installed library for every code point.
It compares the results with the Unicode data of Python and of the newest `unicodedata2`, so that the list is valid for
every Unicode library between these versions.

    pip install tokenizers unicodedata2
    python3 make_unicode_exceptions.py > ../../../input/text/unicode_exceptions.hpp
"""
import unicodedata

import tokenizers
import unicodedata2
from tokenizers import normalizers, pre_tokenizers

VERSIONS = (unicodedata, unicodedata2)
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]


def bert(**on):
    names = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
    return normalizers.BertNormalizer(**{name: name in on for name in names}).normalize_str


clean, strip, lower = bert(clean_text=1), bert(strip_accents=1), bert(lowercase=1)
decompose = normalizers.NFD().normalize_str
pieces = pre_tokenizers.BertPreTokenizer().pre_tokenize_str


def overlay_moves(c):
    """True where the reference gives c a combining class above 1: an overlay (class 1) after it moves before it."""
    text = "a" + chr(c) + "\u0334"
    return decompose(text) != text


def is_ascii_symbol(c):
    return 33 <= c <= 47 or 58 <= c <= 64 or 91 <= c <= 96 or 123 <= c <= 126


kept, marks, not_marks, punctuation, not_punctuation, not_decomposed, lowered = ([] for _ in range(7))
for c in CODE_POINTS:
    ch = chr(c)
    categories = {u.category(ch) for u in VERSIONS}
    drops = clean(ch) == ""
    expects = {k in ("Cc", "Cf", "Co") and ch not in "\t\n\r" or c in (0, 0xFFFD) for k in categories}
    if expects != {drops}:
        assert not drops
        kept.append(c)
    if categories & {"Mn"} or strip("a" + ch) == "a":
        is_mark = strip("a" + ch) == "a"
        decomposes = any(u.normalize("NFD", ch) != ch for u in VERSIONS)
        if not decomposes and {k == "Mn" for k in categories} != {is_mark}:
            (marks if is_mark else not_marks).append(c)
    if not ch.isspace():
        is_punctuation = len(pieces("a" + ch + "b")) == 3
        if {k[0] == "P" or is_ascii_symbol(c) for k in categories} != {is_punctuation}:
            (punctuation if is_punctuation else not_punctuation).append(c)
    if {u.normalize("NFD", ch) for u in VERSIONS} != {decompose(ch)}:
        assert decompose(ch) == ch
        not_decomposed.append(c)
    elif any(u.combining(ch) > 1 for u in VERSIONS) and not overlay_moves(c) or any(
        u.combining(ch) == 1 for u in VERSIONS
    ) and unicodedata.combining(ch) != unicodedata2.combining(ch):
        not_decomposed.append(c)
    # utf8proc maps one code point to one. NFD decomposes U+0130, the only one with a longer mapping, before.
    if decompose(ch) == ch and lower(ch) != ch.lower():
        assert len(lower(ch)) == 1
        lowered.append((c, ord(lower(ch))))


def ranges(points):
    out = []
    for c in points:
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def table(name, comment, points):
    rows = ["{0x%04x, 0x%04x}" % tuple(r) for r in ranges(points)]
    print(f"/// {comment}")
    print(f"inline constexpr CodeRange {name}[] = {{")
    print("    " + ", ".join(rows) + "};\n")


print(f"""// SPDX-FileCopyrightText: 2026 The Bellwether developers
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Written by tests/input/text/make_unicode_exceptions.py. Lists where the reference, Hugging Face `tokenizers` {tokenizers.__version__},
/// deviates from Unicode {unicodedata.unidata_version} to {unicodedata2.unidata_version}, because its tables have other versions. Everything else comes from utf8proc.
namespace bellwether::input::reference {{

struct CodeRange {{
  char32_t first, last;
}};
struct CodeMapping {{
  char32_t from, to;
}};
""")
table("kept", "Format characters (Cf) newer than Unicode 8: not removed by the clean-up.", kept)
table("marks", "Stripped as non-spacing marks although Unicode has reclassified them.", marks)
table("not_marks", "Non-spacing marks (Mn) newer than Unicode 8: not stripped.", not_marks)
table("punctuation", "Split off as punctuation although Unicode has reclassified them.", punctuation)
table("not_punctuation", "Punctuation (P) newer than Unicode 8: not split off.", not_punctuation)
table("not_decomposed", "Newer than Unicode 9: neither decomposed nor reordered by NFD.", not_decomposed)
print("/// Lower-case mappings newer than Unicode %s." % unicodedata.unidata_version)
print("inline constexpr CodeMapping lowered[] = {")
print("    " + ", ".join("{0x%04x, 0x%04x}" % pair for pair in lowered) + "};\n")
print("}  // namespace bellwether::input::reference")
