"""`nlgauge choose`: which metric for my texts, and why?"""

from __future__ import annotations

from typing import Annotated

from nlgauge.choosing.choose import choose as recommend
from nlgauge.cli import options
from nlgauge.cli.main import as_typed
from nlgauge.core.options import Argument, Range, Typed
from nlgauge.io.evalset import read_set
from nlgauge.metrics.registry import named
from nlgauge.perturbations.checklist import TASKS


@options.verb(without={"segments", "width"})
def choose(
    *,
    data: Annotated[
        list[str],
        Argument(
            "Outputs with references, sources or both: JSON lines, TSV, CSV, Parquet, or a test set; several: one per"
            " system.",
            metavar="DATA...",
        ),
    ],
    columns: options.Columns = None,
    metric: Annotated[
        list[str] | None, options.specs("Metrics to choose from.  [default: a short list by task]", "--metric", "-m")
    ] = None,
    task: Annotated[str | None, Typed("What the texts are.  [default: as DATA say]", words=TASKS)] = None,
    criterion: options.Criterion = None,
    judgements: options.Judgements = None,
    limit: Annotated[
        int | None, Range(least=1), Typed("Look at about N outputs.  [default: 480, or fewer long ones]", metavar="N")
    ] = None,
    shown: options.Shown,
    files: options.Files,
    run: options.Common,
) -> int:
    """Recommend one or two metrics for these texts, with the reasons.

    The table says how far each metric agrees with people: on the rated public sets nearest to the texts, a share of
    pairs of outputs ordered as people do (.5 for a blind choice), and with your ratings, if there are some. In it `=`
    cannot be told from the first.

    A default stays unless public sets tell another from it: `rated`, for summaries `bertscore:value=recall`, for
    captions, questions and dialogue `bertscore`, and in other languages `chrf`. With ratings in DATA or `--judgements`
    all metrics are compared with them as by `meta`: Kendall's tau-b inside each input where it has several outputs. One
    that is ahead beyond chance (p < .05, adjusted) takes its place. A second metric looks for wrong facts: `nli-robust`
    in translations, `faithful` in summaries.

    Without `-m` a short list is tried that needs no download. One that lacks what it needs, or cannot read more than
    half of the outputs, is left out with the reason; so is one that is scored, and fails or gives all outputs one
    score. Without ratings only what is recommended is scored, on a few outputs.

    - Without `--task`, and where the data name none, the texts are taken for translations.
    - For captions, questions and dialogue there is no public set; of summaries with references there is one. Beside
      English there are sets of translations into Chinese, Czech, German and Russian.
    - For the order of whole systems no metric is known to be better than another.
    - What the metric misses in your texts `nlgauge audit` says. Rate some outputs if the choice matters.
    """
    shown.check()
    files.check(data, judgements)
    if metric:
        named(metric)  # a misspelt metric is refused before anything is read
    dataset, inputs = read_set(data, options.columns_of(columns), judgements)
    found = recommend(
        dataset,
        metric,
        task=task,
        criterion=criterion,
        seed=run.seed,
        limit=limit,
        data=data,
        judgements=judgements,
        runtime=run.runtime(),
    )
    return shown.put_out(as_typed(found.result(inputs)), files, run.quiet)
