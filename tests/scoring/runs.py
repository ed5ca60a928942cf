"""A run that is scored in this process, and the files that it leaves."""

from nlgauge.scoring.parts import Scorer


def one_by_one(plan, folder, parts):
    """An engine that scores in this process."""
    scorer = Scorer(plan, folder)
    for part in parts:
        yield scorer.score(part)


def files_of(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
