"""Texts on which perturbations tend to fail, with their dialogue turns, other texts and other references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

ORDINARY: tuple[str, ...] = (
    "The ferry leaves the old harbour at seven every morning.",
    "Maria Lopez bought 12 red apples and 3.5 kg of flour for $40 on 4 May 2019.",
    "It isn't cold today, but they won't stay; she'll come back because he's been ill.",
    (
        "The committee's chairman, John Smith, said on Monday that prices had risen by 5% since 1990. Nobody was"
        " surprised. They had never asked him."
    ),
    "“We don’t know what they’re doing,” the nurse said — and left.",
    "Who is the director of the new museum?",
    "When did the first bridge over the river open?",
    "Is there a shorter way to the station?",
    "a man in front of a tall tree",
    "two girls and a small brown dog play on the grass",
    "A lady riding a white horse next to her brother.",
    "Sure, I would love to come with you tomorrow!",
    "no, thanks. i've already eaten",
    "POLICE FIND MISSING BOY IN OLD CHURCH",
    "Go home and bring me three of the best books you own.",
    "In 2020 Berlin, London and the U.S. were hit by storms; about 1,500 houses lost their roofs.",
    "Dr. Anna Brown thinks that her sons do not like the hundred and twenty-seven songs he wrote.",
)
SHORT: tuple[str, ...] = (
    "",
    " \t\n",
    "Yes",
    "Why not?",
    "I",
    "a",
    "42",
    "...",
    "?!",
    "dogs",
    "Run!",
    "'",
    "’s",
    "n't",
    "-",
)
ODD: tuple[str, ...] = (
    "The dog\u00a0barks  twice .\tThe cat\n\nsleeps.\r\nThe end.",
    "lone \ud800 surrogates \udfff and a big\x00 zero",
    "Le cafe\u0301 est nai\u0308f \u200b\u200d\ufeff and old",
    "((((old ) dog]]] ,,, ;; :: -- ’’ '' `` “„ \\{}%$#@",
    "www.example.org/a?b=1&c=2 someone@example.org #tag @name :-) 🚢👍🏽",
    "1 2 3 4 5 1/2 10-12 3rd $1.70 £3 million €5 12:30 +49-30-1234 v1.2.3 0x1f ½ ٣ １２",
    "the the the the a a an an old old old old dog dog dog dog",
    "He saw saw saws. " * 40,
    "x" * 1000,
    "very " * 1500 + "old dog",
)
FOREIGN: tuple[str, ...] = (
    "Der alte Hund schläft auf dem Sofa und die Katze ist nicht da.",
    "Le chien dort sur le canapé et il ne veut pas sortir avec nous.",
    "Старая собака спит на диване.",
    "船は毎朝七時に港を出ます。",
    "猫坐在垫子上，狗在外面。",
    "الكلب نائم على الأريكة.",
    "สุนัขนอนอยู่บนโซฟา",
    "Ο σκύλος κοιμάται στον καναπέ.",
)
TEXTS: tuple[str, ...] = (*ORDINARY, *SHORT, *ODD, *FOREIGN)

CONTEXT: Sequence[Mapping[str, str]] = (
    {"speaker": "Ann", "text": "Did you see the old lighthouse on your trip?"},
    {"speaker": "Bob", "text": "I did. I liked it very much, and I bought 4 postcards there."},
    {"speaker": "Ann", "text": "My sister was there last year. She says that it is small."},
    {"speaker": "Bob", "text": "It is not small, but the stairs are steep."},
    {"speaker": "Ann", "text": "Would you go there again?"},
)
POOL: tuple[str, ...] = (
    "The bakery on the corner sells bread until noon.",
    "A boy throws a ball over the fence.",
    "Nobody has repaired the clock of the town hall yet.",
    "Which train stops at the airport?",
    "I have no idea what you mean.",
)
REFERENCES: tuple[str, ...] = ("Someone wrote this in another way.", "The same was said differently.")
