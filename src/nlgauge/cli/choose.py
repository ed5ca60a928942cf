"""`nlgauge choose`: which metric for my texts, and why?"""

from __future__ import annotations

from typing import Annotated, Any, cast

from nlgauge.choosing.choose import choose as recommend
from nlgauge.choosing.evidence import ASPECTS, Care
from nlgauge.choosing.trials import expected_seconds
from nlgauge.cli import judged, options
from nlgauge.cli.main import as_typed, echo
from nlgauge.core.options import Argument, Range, Typed
from nlgauge.metrics.registry import named
from nlgauge.perturbations.checklist import TASKS


@options.verb(without={"segments"})
def choose(
    *,
    data: Annotated[
        str,
        Argument(
            "Outputs with references, sources or both: JSON lines, TSV, CSV, Parquet, or a test set.", metavar="DATA"
        ),
    ],
    columns: options.Columns = None,
    metric: Annotated[
        list[str] | None, options.specs("Metrics to choose from.  [default: a short list by task]", "--metric", "-m")
    ] = None,
    task: Annotated[str | None, Typed("Whose checklist makes the errors.  [default: as DATA say]", words=TASKS)] = None,
    care: Annotated[str | None, Typed("The errors that matter most.", words=ASPECTS)] = None,
    criterion: judged.Criterion = None,
    judgements: judged.Judgements = None,
    limit: Annotated[
        int | None, Range(least=1), Typed("Look at about N outputs.  [default: 240; 480 that are rated]", metavar="N")
    ] = None,
    dry_run: Annotated[bool, Typed("Only say how long it would take.")] = False,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Recommend one or two metrics for these texts, with the reasons.

    The recommendation comes first, then the command to paste, and a table with every number. Evidence is a share of
    right answers, .5 for a blind choice: outputs ordered as by your ratings (in JSON `people`) or by people on the
    nearest public sets (`public`), errors made in your outputs that lower the score (`errors`), paraphrases above
    near-copies with an error (`copies`), harmless changes that cost less than an error (`harmless`), differences of
    your systems that hold on two halves of the items (`apart`). Fewer than 10 errors, copies or harmless changes do not
    count.

    With 30 pairs or more that you rate apart, ratings decide, if some metric is above chance with them. Else a weighted
    mean does, in which public sets weigh most; `--care` lets errors weigh as much. In the table `=` cannot be told from
    the first, and `~` orders your texts as an earlier metric does. A second metric is named if it sees more than half
    of what the first misses. One that fails, lacks what it needs, or cannot read or score more than half of the outputs
    is left out with the reason.

    Some 240 outputs are looked at (480 that are rated), fewer of long texts; of errors, too, by metrics that read
    sources. Without `-m` a short list is tried that needs no download; `--dry-run` names it, and says how long each
    takes at most. `summac` is slow and must be named. A default stays unless people, or `--care`, tell another from it:
    `rated`, for summaries `bertscore:value=recall`. Scores of models stay in the cache.

    - Errors are made by rule in English; texts in other languages get few or none. Without `--task`, and where the data
      name none, they are those of translation.
    - For captions, questions and dialogue there is no public set, and errors alone can mislead; of summaries with
      references there is one. Beside English there are sets of translations into Chinese, Czech, German and Russian;
      for other languages there is no evidence, and `chrf` stays.
    - For the order of whole systems the choice is no better than chance.
    - Rate some outputs if the choice matters.
    """
    shown.check(files)
    files.check(data, judgements)
    if metric:
        named(metric)  # a misspelt metric is refused before anything is read
    dataset, inputs = judged.read_data(data, judgements, columns)
    how: dict[str, Any] = {"task": task, "seed": run.seed, "limit": limit, "runtime": run.runtime()}
    if dry_run:
        _tell(expected_seconds(dataset, metric, **how))
        return 0
    found = recommend(dataset, metric, care=cast(Care | None, care), criterion=criterion, data=data, **how)
    return shown.put_out(as_typed(found.result(inputs)), files, run.quiet)


def _tell(seconds: Any) -> None:
    """Say how long each metric takes, and all of them."""
    for spec, one in sorted(seconds.items(), key=lambda entry: -entry[1]):
        echo(f"{one:8.1f} s  {spec}")
    echo(f"{sum(seconds.values()):8.1f} s  in all at most by the clock, besides loading models")
