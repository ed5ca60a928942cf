"""Names of people and places.

The most frequent of the US census of 1990, and the places of WordNet 3.0. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import tarfile
from pathlib import Path

from wordnet import Synset, WordNet

DATA = Path(__file__).parents[3] / "src/nlgauge/data/language"
KEPT = 1000
STATES = {"American state", "Australian state", "Canadian province", "state"}


def census(package: Path, name: str) -> dict[str, float]:
    """Name -> percent of the people who bear it, the most frequent first."""
    with tarfile.open(package) as files:
        member = next(m for m in files.getmembers() if m.name.endswith(f"/{name}"))
        rows = [line.split() for line in files.extractfile(member).read().decode("ascii").splitlines()]  # type: ignore[union-attr]
    return {row[0].capitalize(): float(row[1]) for row in rows}


def kind(above: list[Synset]) -> str:
    heads = {s.words[0].replace("_", " ") for s in above}
    if any(h.endswith(("country", "nation", "Baltic State", "kingdom")) for h in heads):
        return "country"
    if "national capital" in heads:
        return "capital"
    return "state" if heads & STATES else "place"


def places(wordnet: WordNet) -> dict[str, str]:
    """Capitalised words and phrases whose most frequent sense is a place -> country, capital, state or place."""
    order = ("country", "capital", "state", "place")
    found: dict[str, str] = {}
    for lemma in wordnet.lemmas("noun"):
        for synset in wordnet.senses(lemma, "noun"):
            above = [wordnet.synset(p.target) for p in synset.to("@i")]
            if not above or synset.supersense not in ("noun.location", "noun.object"):
                continue
            for word in synset.words:
                if word.lower() == lemma and word[0].isupper() and (len(word) > 2 or word in ("UK", "US")):
                    name, new = word.replace("_", " "), kind(above)
                    found[name] = min(found.get(name, new), new, key=order.index)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("census", type=Path, help="names-0.3.0.tar.gz")
    parser.add_argument("wordnet", type=Path, help="folder with index.noun, data.noun, ...")
    given = parser.parse_args()
    female, male, last = (census(given.census, f"dist.{name}") for name in ("female.first", "male.first", "all.last"))
    kept = sorted({*[*female][:KEPT], *[*male][:KEPT]}, key=lambda n: (-max(female.get(n, 0), male.get(n, 0)), n))
    rows = [f"{name}\t{female.get(name, 0):.3f}\t{male.get(name, 0):.3f}" for name in kept]
    (DATA / "first_names.tsv").write_text("\n".join(rows) + "\n", "ascii")
    (DATA / "last_names.txt").write_text("\n".join([*last][:KEPT]) + "\n", "ascii")
    found = places(WordNet(given.wordnet))
    (DATA / "places.tsv").write_text("".join(f"{name}\t{found[name]}\n" for name in sorted(found)), "utf-8")
    print(f"{len(rows)} first names, {KEPT} last names, {len(found)} places")


if __name__ == "__main__":
    main()
