"""Sentences made up from the words of a treebank: plain clauses in the present and the past, of which text from the web has few.

They teach the tagger that a clause wants a finite verb (the dogs bark; the charter allowed for trade), and what 's and
'd stand for.
"""

from collections import defaultdict

# Parts of a clause: subjects in the singular (S), with no pronoun (T), in the plural (P), pronouns (H before 's, I
# before 'd), objects (O), phrases of place (L), adverbs of manner (A) and of time (R), verb forms by tag, or a word
# with its tag.
CLAUSES = """
S VBZ O . | S VBZ L . | S VBZ A . | S VBZ O L . | P VBP O . | P VBP L . | P VBP A . | P VBP O L . | P VBP O | S VBZ O
S VBD O . | P VBD O . | S VBD L . | P VBD L . | S VBD A . | S VBD O L . | P VBD O A .
S VBD to/TO VB O . | P VBP to/TO VB O . | S VBZ to/TO VB .
T 's/VBZ VBG O . | T 's/VBZ VBG . | T 's/VBZ VBG L . | T 's/VBZ VBN . | T 's/VBZ R VBN . | T 's/VBZ gone/VBN . | T 's/VBZ JJ .
T 's/VBZ here/RB . | T 's/VBZ L . | T 's/VBZ been/VBN VBN . | H 's/VBZ VBN . | H 's/VBZ VBG O . | H 's/VBZ JJ . | H 's/VBZ a/DT NN .
T 's/POS NN VBZ O . | T 's/POS NN VBD O . | T 's/POS NNS VBP O . | T 's/POS NNS VBD L . | T 's/POS NN is/VBZ JJ .
S does/VBZ n't/RB VB O . | S does/VBZ n't/RB R VB . | P do/VBP n't/RB VB O . | P do/VBP not/RB R VB . | S did/VBD n't/RB VB L .
P did/VBD not/RB R VB O . | S MD VB O . | P MD not/RB VB O . | P MD R VB . | S MD not/RB VB L .
S has/VBZ VBN O . | P have/VBP R VBN . | S had/VBD VBN O . | P have/VBP not/RB R VBN O . | S has/VBZ n't/RB VBN .
I 'd/VBD already/RB VBN O . | I 'd/VBD never/RB VBN O . | I 'd/VBD VBN L . | I 'd/MD never/RB VB O . | I 'd/MD VB O . | I 'd/MD R VB .
S is/VBZ VBG O . | P are/VBP VBG L . | S was/VBD VBN L . | P were/VBD VBN by/IN S .
S who/WP VBZ O VBZ O . | P who/WP VBP O VBP L . | P who/WP VBP A VBD O . | S who/WP VBZ A VBD L . | S that/WDT I VBD VBD O .
S VBN by/IN S VBD O . | P VBN L were/VBD JJ . | S VBN L VBZ O .
Do/VBP P VB O ? | Does/VBZ S VB O ? | Did/VBD S VB L ? | Have/VBP P VBN O ? | Has/VBZ S VBN ? | MD P VB O ?
S VBZ and/CC S VBZ . | P VBP O and/CC P VBP . | S VBD O and/CC S VBD L . | P VBP and/CC S VBZ O .
S VBZ that/IN P VBP O . | P VBP that/IN S VBD . | S VBD that/IN that/DT NN VBD O . | I VBD if/IN S VBZ O . | S VBD when/WRB P VBD O .
P like/VBP O . | P VBP A like/VBP O . | S who/WP VBZ A likes/VBZ O . | P put/VBP O L . | S put/VBD O L . | S cut/VBD O . | S bit/VBD O .
S VBD by/IN CD %/NN L . | P VBD CD %/NN to/IN CD . | S VBZ CD %/NN . | NN of/IN NNS VBD by/IN CD %/NN . | P ,/, who/WP VBP O ,/, VBP L .
VB O . | VB R . | do/VB not/RB VB O . | do/VB n't/RB VB L .
"""
CHOICES = {
    "R": ("RB", "often never always already still also quickly really usually soon just rarely then now once probably"),
    "A": ("RB", "well early late here there today again slowly outside together yesterday quickly away"),
    "MD": ("MD", "can could will would may might must should"),
    "CD": ("CD", "2 3 5 10 20 40 1.5 2.3 120 300"),
    "I": ("PRP", "I you he she we they"),
}
HELD = [
    ("he", "PRP"),
    ("she", "PRP"),
    ("it", "PRP"),
    ("that", "DT"),
    ("what", "WP"),
    ("who", "WP"),
    ("there", "EX"),
]  # what 's is said of


class Speaker:
    """Draws words of a treebank's rows, each `{"tokens": [[form, lemma, UPOS, PTB tag, features], ...]}`, with a random generator."""

    def __init__(self, rows, rng):
        self.rng = rng
        words, verbs = defaultdict(lambda: defaultdict(int)), defaultdict(dict)
        for row in rows:
            for form, lemma, _, tag, _ in row["tokens"]:
                if form.isalpha() and len(form) > 1 and (form != form.lower()) == (tag == "NNP"):
                    words[tag][form] += 1
                    if tag.startswith("VB") and lemma not in ("be", "have", "do"):
                        verbs[tag].setdefault(lemma, form)
        self.words = {tag: sorted(words[tag]) for tag in ("NN", "NNS", "NNP")}
        self.words["JJ"] = sorted(word for word, times in words["JJ"].items() if times > 1)
        bases = {lemma: lemma for tag in ("VB", "VBP", "VBZ") for lemma in verbs[tag] if lemma.isalpha()}
        for tag in ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG"):
            known = bases if tag in ("VB", "VBP") else verbs[tag]
            self.words[tag] = [known[lemma] for lemma in sorted(bases) if lemma in known]

    def one(self, words, tag):
        return [(self.rng.choice(words.split()), tag)]

    def word(self, tag):
        return [(self.rng.choice(self.words[tag]), tag)]

    def noun(self, tag):
        return (self.word("JJ") if self.rng.random() < 0.25 else []) + self.word(tag)

    def singular(self, pronouns=True):
        drawn = self.rng.random()
        if drawn < 0.15:
            return self.word("NNP")
        if drawn < 0.22 and pronouns:
            return self.one("he she it", "PRP")
        if drawn < 0.25:
            return self.one("everyone nobody someone", "NN")
        if drawn < 0.40:
            return self.one("my his her our their your its", "PRP$") + self.noun("NN")
        return self.one("the the the a this that every", "DT") + self.noun("NN")

    def plural(self, pronouns=True):
        drawn = self.rng.random()
        if drawn < 0.30:
            return self.noun("NNS")
        if drawn < 0.54:
            return self.one("the the these those some", "DT") + self.noun("NNS")
        if drawn < 0.60:
            return self.one("many few", "JJ") + self.noun("NNS")
        if drawn < 0.68:
            return self.one("two three five ten", "CD") + self.noun("NNS")
        if drawn < 0.78:
            return self.one("my his her our their", "PRP$") + self.noun("NNS")
        if drawn < 0.88 and pronouns:
            return self.one("they we you", "PRP")
        if drawn < 0.92:
            return [*self.word("NNP"), ("and", "CC"), *self.word("NNP")]
        first = self.one("the a", "DT") if self.rng.random() < 0.7 else self.one("my", "PRP$")
        return [*first, *self.word("NN"), ("and", "CC"), *first, *self.word("NN")]

    def thing(self):
        drawn = self.rng.random()
        if drawn < 0.2:
            return self.one("him her it them us me", "PRP")
        if drawn < 0.4:
            return self.noun("NN")
        return self.plural(pronouns=False) if drawn < 0.7 else self.singular(pronouns=False)

    def part(self, name):
        if "/" in name:
            return [tuple(name.split("/"))]
        if name in (".", "?"):
            return [(name, ".")]
        if name in CHOICES:
            tag, words = CHOICES[name]
            return self.one(words, tag)
        phrases = {
            "S": self.singular,
            "T": lambda: self.singular(pronouns=False),
            "P": self.plural,
            "O": self.thing,
            "L": lambda: self.one("in on at with from near through for by", "IN") + self.singular(pronouns=False),
            "H": lambda: [self.rng.choice(HELD)],
        }
        return phrases[name]() if name in phrases else self.word(name)


def made_up(rows, count, rng):
    """That many sentences, lists of pairs of a word and its tag."""
    clauses = [clause.split() for line in CLAUSES.strip().splitlines() for clause in line.split(" | ")]
    speaker = Speaker(rows, rng)
    for _ in range(count):
        sentence = [pair for name in rng.choice(clauses) for pair in speaker.part(name)]
        (first, tag), *rest = sentence
        yield [(first[:1].upper() + first[1:], tag), *rest]
