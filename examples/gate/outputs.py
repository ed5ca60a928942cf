"""A toy system that reports the weather, and two changes of it: what `nlgauge gate` and pytest judge in this example.

python outputs.py old > old.jsonl
python outputs.py reworded > new.jsonl      # says a fifth of the reports otherwise
python outputs.py hasty > new.jsonl         # leaves the wind out of every other report
"""

import argparse
import json

DAYS = ("today", "tomorrow")
TOWNS = ("Arden", "Brill", "Corby", "Dale", "Esk", "Ferry", "Glen", "Holt", "Inch", "Jarrow", "Kelso", "Leith")
SKIES = {
    "clear": ("the sky stays clear", "there is not a cloud in the sky"),
    "rain": ("rain falls until noon", "it rains all morning"),
    "snow": ("snow turns to sleet", "snow falls and then becomes sleet"),
    "fog": ("fog clears late", "the fog does not lift before evening"),
    "sun": ("it is sunny after some mist", "mist gives way to sunshine"),
}
WINDS = {"calm": ("hardly any wind", "almost no wind"), "gusts": ("gusts from the west", "strong gusts from the west")}


def items(most):
    """Number, day, town, sky, wind and degrees of each report."""
    listed = [(day, town, sky, wind) for day in DAYS for town in TOWNS for sky in SKIES for wind in WINDS]
    for i, (day, town, sky, wind) in enumerate(listed[:most]):
        yield i, day, town, sky, wind, (7 * i) % 30 - 5


def report(version, i, day, town, sky, wind, degrees):
    """The output of one version of the system."""
    said = f"In {town} {SKIES[sky][0]} {day}, with {WINDS[wind][0]}, at {degrees} degrees."
    if version == "reworded" and i % 5 == 0:
        return said.replace(" degrees", " degrees celsius")
    if version == "hasty" and i % 2 == 0:
        return said.replace(f", with {WINDS[wind][0]}", "")
    return said


def rows(version, most=240):
    """One row per report, as `nlgauge` reads them."""
    for i, day, town, sky, wind, degrees in items(most):
        reference = f"In {town} {SKIES[sky][1]} {day}, with {WINDS[wind][1]}, at {degrees} degrees."
        said = report(version, i, day, town, sky, wind, degrees)
        yield {"seg": f"{day}-{town}-{sky}-{wind}", "hyp": said, "refs": [reference]}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("version", choices=("old", "reworded", "hasty"))
    parser.add_argument("--items", type=int, default=240)
    typed = parser.parse_args()
    for row in rows(typed.version, typed.items):
        print(json.dumps(row))
