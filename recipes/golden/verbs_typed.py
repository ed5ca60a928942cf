"""What `verbs.py` types: every verb in every form it has, and what it refuses."""

from __future__ import annotations

from collections.abc import Iterator

FORMS = ("text", "json", "tsv", "markdown", "latex")
WEATHER, DIALOGUE, RATINGS = "inputs/weather.jsonl", "inputs/dialogue.jsonl", "--judgements inputs/weather_ratings.tsv"
RATED, THEIRS, PAIRS = "inputs/rated.jsonl", "--scores inputs/theirs.tsv --lower-is-better errors", "inputs/pairs.jsonl"
PLAIN = "--hyp inputs/hyp_drops.txt --ref inputs/refs1.txt"
LEXICAL = "-m bleu -m chrf -m rougeL -m ter"
NEURAL = ("bertscore", "cosine", "nli", "nli-robust", "summac", "sescore")
PRESETS = (
    "wmt16-seg wmt-da-rr wmt-mqm-seg summeval-sys summeval-summ realsumm webnlg coco-m1 paws-auc bagel qags rank19"
).split()
TASKS = {"mt": "inputs/oneref.jsonl", "as": RATED, "qg": RATED, "dg": DIALOGUE, "ic": RATED, "d2t": WEATHER}


def commands() -> dict[str, str]:
    """Name -> what is typed after `nlgauge`; `made` is the folder of the run. Later runs read earlier files."""
    found: dict[str, str] = {}
    for part in (
        _help,
        _score,
        _align,
        _perturb,
        _audit,
        _meta,
        _select,
        _sweep,
        _synth,
        _train,
        _lists,
        _choose,
        _refused,
    ):
        for name, typed in part():
            if name in found:
                raise ValueError(f"two runs are called {name}")
            found[name] = typed
    return found


Runs = Iterator[tuple[str, str]]


def _forms(name: str, typed: str) -> Runs:
    """The same in every form, and as text without signatures and notes."""
    yield from ((f"{name}-{form}", f"{typed} -f {form}") for form in FORMS)
    yield f"{name}-quiet", f"{typed} --quiet"


def _help() -> Runs:
    yield "help", "--help"
    yield "help-short", "-h"
    yield "help-version", "--version"
    for (
        verb
    ) in "score align explain perturb audit meta select sweep synth gate choose report train env list doctor".split():
        yield f"help-{verb}", f"{verb} --help"
    for verb in ("baseline", "layers", "nli", "infill", "sescore", "regressor"):
        yield f"help-train-{verb}", f"train {verb} --help"


def _score() -> Runs:
    yield from _forms("score", f"score {WEATHER} {LEXICAL}")
    yield (
        "score-files",
        f"score {WEATHER} {LEXICAL} -m bertscore --json made/result.json --html made/page.html --segments "
        "made/rows.tsv",
    )
    yield "score-files-jsonl", f"score {WEATHER} -m chrf -m rouge1 --segments made/rows.jsonl"
    yield "score-files-packed", f"score {WEATHER} -m chrf -m rouge1 --segments made/rows.jsonl.gz"
    yield "score-files-parquet", f"score {RATED} -m chrf -m ter --segments made/rows.parquet"
    yield (
        "score-parquet-read",
        f"score {RATED} -m chrf -m 'scores:file=\"runs/score-files-parquet/rows.parquet\",column=ter'",
    )
    yield from _forms("score-bootstrap", f"score {WEATHER} {LEXICAL} --significance bootstrap -n 200")
    yield (
        "score-bootstrap-files",
        (
            f"score {WEATHER} -m bleu -m ter --significance bootstrap -n 200 --baseline careless --json "
            "made/result.json --html made/page.html"
        ),
    )
    yield "score-randomization", f"score {WEATHER} -m bleu -m chrf --significance randomization -n 500 --seed 3"
    yield "score-compat", f"score {WEATHER} -m bleu --significance bootstrap:compat=sacrebleu -n 100"
    yield (
        "score-compat-randomization",
        f"score {WEATHER} -m chrf --significance randomization:compat=sacrebleu -n 100",
    )
    yield "score-confidence", f"score {RATED} -m bleu -m rougeL --confidence -n 200"
    yield "score-groups", f"score {RATED} -m bleu -m rougeL --by-group"
    yield "score-groups-tsv", f"score {RATED} -m bleu -m rougeL --by-group --confidence -n 50 -f tsv"
    yield (
        "score-groups-bootstrap",
        f"score {RATED} -m chrf --by-group --significance bootstrap -n 100 --baseline copies --json made/result.json",
    )
    yield "score-gate-passed", f"score {PLAIN} -m bleu --fail-under bleu=1"
    yield "score-gate-failed", f"score {RATED} -m bleu -m ter --fail-under bleu=50 --fail-under ter=20"
    yield "score-only", f"score {PLAIN} -m bleu -m chrf -b"
    yield "score-only-width", f"score {RATED} -m bleu -m chrf -b -w 5"
    yield "score-width", f"score {PLAIN} -m bleu -w 6"
    yield "score-default", f"score {PLAIN}"
    yield "score-two-words", f"score {PLAIN} -m bleu chrf"
    yield (
        "score-systems",
        (
            "score --hyp inputs/hyp_drops.txt --hyp inputs/hyp_swaps.txt --hyp inputs/hyp_odd.txt --ref "
            "inputs/refs1.txt --ref inputs/refs2.txt "
            "--src inputs/srcs.txt -m bleu -m chrf++ -m rouge2"
        ),
    )
    yield (
        "score-odd",
        "score -i inputs/hyp_odd.txt -r inputs/refs1.txt -m bleu -m bertscore -m ter --segments made/rows.tsv",
    )
    yield "score-crlf", "score --hyp inputs/hyp_crlf.txt --ref inputs/refs1.txt -m chrf"
    yield "score-packed", "score --hyp inputs/hyp_packed.txt.gz --ref inputs/refs2.txt -m chrf"
    yield "score-stdin", "score --hyp - --ref inputs/refs1.txt -m bleu < inputs/hyp_swaps.txt"
    yield "score-stdin-data", f"score - -m chrf < {WEATHER}"
    for ending in ("tsv", "csv"):
        yield f"score-data-{ending}", f"score inputs/rated.{ending} -m chrf -m rougeLsum"
    yield "score-data-mqm", "score inputs/mqm.tsv -m summac"
    yield "score-data-summeval", "score inputs/summeval.jsonl -m rougeL -m bleu"
    yield "score-data-da", "score inputs/wmt-da -m chrf --by-group"
    yield "score-data-mtme", "score inputs/mtme -m chrf"
    yield (
        "score-options",
        (
            f"score {RATED} -m bleu:tokenize=char,smooth_method=floor -m bleu:effective_order=true,lowercase=true -m "
            "chrf:word_order=2 "
            "-m ter:normalized=true -m rouge:variant=2,use_stemmer=true -m rougeL:references=mean,value=recall "
            "--json made/result.json"
        ),
    )
    yield (
        "score-bertscore",
        (
            f"score {RATED} -m bertscore -m bertscore:idf=true,layer=5 -m bertscore:rescale=true -m "
            "bertscore:value=recall,references=mean "
            "--no-cache --json made/result.json --segments made/rows.tsv"
        ),
    )
    yield (
        "score-neural",
        (
            f"score {RATED} {' '.join(f'-m {name}' for name in NEURAL)} -m "
            "nli:formula=e-c,direction=forward,anchor=source "
            "-m sescore:rescale=true --json made/result.json --segments made/rows.tsv"
        ),
    )
    yield (
        "score-long",
        "score --hyp inputs/long.txt --ref inputs/long.txt -m bertscore -m bertscore:long=windows -m sescore "
        "--no-cache",
    )
    yield "score-dtype", f"score {PLAIN} -m bertscore --dtype float64 --no-cache --json made/result.json"
    for name in ("first", "again"):  # the second run takes its numbers from the cache
        yield f"score-cache-{name}", f"score {PLAIN} -m bertscore -m nli --cache kept --json made/result.json"
    yield (
        "score-sum",
        f"score {RATED} -m '0.3*chrf + 0.7*rougeL' -m '0.5*bleu + 0.5*ter[norm=zscore]' --save-norm made/bounds.json",
    )
    yield "score-sum-save", f"score {RATED} -m '0.3*chrf + 0.7*rougeL' --save-norm made/bounds.json"
    yield (
        "score-sum-kept",
        f"score {WEATHER} -m '0.3*chrf + 0.7*rougeL[norm=file(\"runs/score-sum-save/bounds.json\")]'",
    )
    yield (
        "score-sum-zscored",
        f"score {WEATHER} -m '0.3*chrf + 0.7*rougeL[norm=zscore]' -m '0.3*chrf + 0.7*rougeL[norm=none]'",
    )
    yield "score-sum-neural", f"score {WEATHER} -m '0.8*bertscore + 0.2*nli' --significance bootstrap -n 100"


def _align() -> Runs:
    hyp, ref = (
        '--hyp "Expect heavy rain across the north tonight."',
        '--ref "Tonight there will be downpours in northern areas."',
    )
    yield "align", f"align {hyp} {ref}"
    yield "align-files", f"align {hyp} {ref} --svg made/pair.svg --html made/pair.html --json made/pair.json"
    yield "align-quiet", f"align {hyp} {ref} --quiet --json made/pair.json"
    yield "align-layer", f"align {hyp} {ref} -m bertscore:layer=2 --svg made/pair.svg"
    yield "align-rescale", f"align {hyp} {ref} -m bertscore:rescale=true --no-cache"
    yield "align-empty", f'align --hyp "" {ref}'
    yield (
        "align-scripts",
        'align --hyp "Die Katze & der <Ofen>, 猫が寝る" --ref "Der Ofen & die Katze, 猫は寝た" --html made/pair.html',
    )


def _perturb() -> Runs:
    for task, data in TASKS.items():
        yield f"perturb-{task}", f"perturb {data} --task {task} -o made/pairs.jsonl"
    yield "perturb-criterion", f"perturb {WEATHER} --task d2t --criterion fluency --seed 4 -o made/pairs.tsv"
    yield (
        "perturb-named",
        f"perturb {WEATHER} -p negation -p change_numbers -p mask_and_predict:count=2 -o made/pairs.jsonl.gz",
    )
    yield "perturb-named-task", f"perturb {WEATHER} --task mt -p negation -p contractions -o made/pairs.jsonl"
    yield "perturb-quiet", f"perturb {WEATHER} -p jumble_words --quiet --limit 5 -o made/pairs.tsv.gz"
    yield (
        "perturb-field",
        f"perturb {WEATHER} -p drop_stopwords --field hyp --legacy-join --limit 9 --seed 2 -o made/pairs.jsonl",
    )
    yield (
        "perturb-attacks",
        f"perturb {RATED} -p addition -p omission -p name_error -p number_error -p pronoun_error -o made/pairs.jsonl",
    )


def _audit() -> Runs:
    checklist = f"audit {WEATHER} --task d2t -m bleu -m chrf -m rougeL"
    yield from _forms("audit", checklist)
    yield (
        "audit-files",
        f"{checklist} -m bertscore --json made/result.json --html made/page.html --segments made/rows.tsv",
    )
    yield "audit-intervals", f"{checklist} -v --seed 5 --limit 8"
    yield "audit-neural", f"audit {WEATHER} --task d2t --limit 4 -m nli -m sescore -m cosine --json made/result.json"
    for task, data in TASKS.items():
        yield f"audit-{task}", f"audit {data} --task {task} -m chrf -m ter --limit 10 --json made/result.json"
    yield (
        "audit-told",
        f"audit {WEATHER} --criterion fluency --task d2t -m chrf --normalise minmax --tolerance 0.2 --field hyp",
    )
    yield "audit-named", f"audit {WEATHER} --task mt -p negation -p typos -m rougeL --normalise none"
    yield "audit-penalties", f"audit {WEATHER} --task d2t --penalties inputs/penalties.tsv -m chrf -m rougeL"
    menli = f"audit {WEATHER} --suite menli -m bleu -m chrf -m bertscore"
    yield from _forms("audit-menli", menli)
    yield (
        "audit-menli-files",
        f"{menli} --worst 2 -v --json made/result.json --html made/page.html --segments made/rows.tsv",
    )
    yield (
        "audit-menli-paraphrases",
        f"audit {RATED} --suite menli:paraphrases=inputs/paraphrases.tsv,choose=first -m chrf -m rougeL",
    )
    yield "audit-menli-summaries", f"audit {RATED} --suite menli --task as -m chrf -m nli:anchor=source --limit 4"
    yield from _forms("audit-pairs", f"audit --suite {PAIRS} -m bleu -m chrf -m ter")
    for ties in ("half", "exclude", "zero"):
        yield f"audit-ties-{ties}", f"audit --suite {PAIRS} -m bleu -m chrf --ties {ties}"
    yield "audit-worst", f"audit --suite {PAIRS} -m chrf -m bertscore -m summac --worst 3"
    yield "audit-design", "audit --suite runs/perturb-d2t/pairs.jsonl --design checklist -m chrf"
    yield "audit-design-preference", f"audit {WEATHER} --task d2t --design preference -m chrf --worst 1"
    for name in ("pairs.tsv", "adversarial.jsonl", "menli.csv", "aces.tsv", "demetr.json", "paws.tsv"):
        yield (
            f"audit-read-{name.replace('.', '-')}",
            f"audit --suite inputs/{name} -m chrf -m rougeL --json made/result.json",
        )
    yield "audit-read-ids", f"audit {RATED} --suite inputs/choices.jsonl -m chrf -m bleu"
    yield "audit-read-rank19", "audit --suite inputs/rank19.json --references source -m chrf -m nli"
    yield "audit-read-sides", "audit --suite inputs/sides.jsonl --references source -m chrf"
    yield "audit-source", "audit --suite inputs/adversarial.jsonl -m summac -m nli:anchor=source -m chrf"


def _meta() -> Runs:
    item = f"meta {WEATHER} {RATINGS} -m chrf -m rougeL -m bleu -m ter -c adequacy --level item --stat kendall_b"
    yield from _forms("meta", f"{item} --test auto -n 200")
    yield (
        "meta-files",
        f"{item} --test auto -n 200 --json made/result.json --html made/page.html --segments made/rows.tsv",
    )
    yield from _forms(
        "meta-criteria",
        f"meta {WEATHER} {RATINGS} -m chrf -m bleu -c all --stat spearman --stat pearson --criteria -n 200",
    )
    yield (
        "meta-criteria-files",
        f"meta {WEATHER} {RATINGS} -m chrf -m bleu -c all --criteria -n 50 --json made/result.json --html "
        "made/page.html",
    )
    for level in ("segment", "item", "summary", "system"):
        typed = f"meta {RATED} -m chrf -m rougeL -m ter {THEIRS} -c adequacy --level {level} -n 200"
        yield f"meta-level-{level}", f"{typed} --stat pearson --stat spearman --json made/result.json"
        yield f"meta-test-{level}", f"{typed} --test auto --adjust holm"
    for averaging in ("none", "item", "sys", "micro"):
        stat = "wmt_kendall_like" if averaging == "micro" else "pearson"
        typed = f"meta {RATED} -m chrf -m bleu -c adequacy --averaging {averaging} --stat {stat} -n 100"
        yield f"meta-averaging-{averaging}", typed
    for test in ("williams", "perm_both", "perm_inputs", "perm_systems", "item_swap", "bootstrap"):
        level = "system" if test == "perm_systems" else "item" if test == "item_swap" else "segment"
        yield (
            f"meta-with-{test.replace('_', '-')}",
            (
                f"meta {RATED} -m chrf -m bleu -m rougeL -c adequacy --level {level} --test {test} -n 200 --adjust bh "
                "--json made/result.json"
            ),
        )
    yield "meta-with-mcnemar", f"meta {RATED} -m chrf -m bleu -c adequacy --stat preference_accuracy --test mcnemar"
    yield (
        "meta-power",
        f"meta {RATED} -m chrf -m bleu -m rougeL -c adequacy --level system --test auto --power -n 100 --json "
        "made/result.json",
    )
    for stat in (stat for stat in STATISTICS if stat not in ("auc", "pairwise_accuracy", "soft_pairwise_accuracy")):
        yield (
            f"meta-stat-{stat.replace('_', '-')}",
            f"meta {RATED} -m chrf -m ter -c adequacy --level item --stat {stat} -n 100 --json made/result.json",
        )
    yield "meta-stat-auc-labels", "meta inputs/labels.jsonl -m chrf -m bleu --stat auc -n 100"
    yield (
        "meta-stat-systems",
        f"meta {RATED} -m chrf -m ter -c adequacy --level system --stat pairwise_accuracy --stat "
        "soft_pairwise_accuracy -n 100",
    )
    yield (
        "meta-stat-folds",
        f"meta {RATED} -m chrf -m bleu -c fluency --level item --stat acc_eq_calibrated:folds=3 -n 50",
    )
    yield "meta-stat-epsilon", f"meta {RATED} -m chrf -m bleu -c fluency --level item --stat acc_eq:epsilon=2.5 -n 50"
    yield (
        "meta-stat-threshold",
        f"meta {RATED} -m chrf -m bleu -c adequacy --stat wmt_kendall_like:threshold=20,ties=half -n 50",
    )
    yield (
        "meta-undefined",
        f"meta {RATED} -m rouge2 -m chrf -c fluency --level item --stat pearson:undefined=zero,common=true -n 50",
    )
    for intervals, drawn in (("fisher", ""), ("bootstrap", " -n 100 --seed 7"), ("none", "")):
        yield (
            f"meta-intervals-{intervals}",
            f"meta {RATED} -m chrf -m rougeL -c adequacy --intervals {intervals}{drawn}",
        )
    for references in ("own", "mean", "best", "best_each", "first", "source"):
        yield (
            f"meta-references-{references.replace('_', '-')}",
            f"meta {RATED} -m bleu -m rougeL -c adequacy --references {references} -n 50",
        )
    for missing in ("drop", "worst", "zero"):
        yield (
            f"meta-missing-{missing}",
            f"meta {RATED} -m chrf --scores inputs/gaps.tsv -c adequacy --missing {missing} -n 50",
        )
    yield "meta-exclude", f"meta {RATED} -m bleu -c adequacy --level system --exclude shouts"
    yield (
        "meta-choices",
        f"meta {RATED} -m chrf -m bleu --pairs inputs/choices.jsonl --stat preference_accuracy --test auto",
    )
    yield "meta-ranks", f"meta {RATED} -m chrf -m bleu --pairs inputs/RR-seglevel.csv --stat rr_kendall -n 100"
    yield "meta-joined", "meta inputs/unrated.jsonl --judgements inputs/ratings.tsv -m chrf -m bleu -n 100"
    yield (
        "meta-wmt-scores",
        "meta inputs/mtme -m chrf --scores inputs/mtme/metric-scores/cs-en/theirs-refA.seg.score -n 100",
    )
    yield "meta-sacrerouge", f"meta {RATED} --scores inputs/sacrerouge.jsonl -c adequacy --missing drop -n 50"
    for name in ("mqm.tsv", "summeval.jsonl", "wmt-da", "mtme", "rated.csv", "rated.tsv"):
        wanted = {"summeval.jsonl": "-c coherence", "rated.csv": "-c fluency", "rated.tsv": "-c all"}.get(name, "")
        metric = "-m nli:anchor=source" if name == "mqm.tsv" else "-m chrf -m rougeL"
        yield (
            f"meta-read-{name.replace('.', '-')}",
            f"meta inputs/{name} {metric} {wanted} -n 50 --json made/result.json",
        )
    for preset in PRESETS:
        data = {
            "paws-auc": "inputs/labels.jsonl",
            "rank19": "inputs/sides.jsonl -c adequacy",
            "summeval-sys": "inputs/summeval.jsonl -c all",
        }
        yield (
            f"meta-preset-{preset}",
            f"meta {data.get(preset, f'{RATED} -c adequacy')} -m chrf -m rougeL --preset {preset} -n 100 --json "
            "made/result.json",
        )
    for compat, level in (("mt-metrics-eval", "item"), ("nlpstats", "system"), ("realsumm", "item")):
        yield (
            f"meta-compat-{compat}",
            f"meta {RATED} -m chrf -m rougeL -c adequacy --level {level} --compat {compat} -n 100",
        )
    yield (
        "meta-neural",
        f"meta {RATED} {' '.join(f'-m {n}' for n in NEURAL)} -c adequacy --level item -n 100 --html made/page.html "
        "--json made/result.json",
    )


def _select() -> Runs:
    typed = f"select {WEATHER} {RATINGS} -m chrf -m rougeL -c adequacy --hybrids 300 --pool 10"
    yield from _forms("select", typed)
    yield (
        "select-files",
        f"{typed} --draws 500 --json made/result.json --html made/page.html --segments made/rows.jsonl",
    )
    theirs = "-m scores:file=inputs/theirs.tsv,column=errors,higher_is_better=false"
    yield "select-groups", f"select {RATED} -m chrf {theirs} -c adequacy --hybrids 200 --pool 5 --seed 2"
    yield "select-systems", f"select {RATED} -m chrf -m ter -c fluency --hybrids 0 --pool 2"


def _sweep() -> Runs:
    typed = f"sweep {RATED} --suite {PAIRS} -m chrf -m rougeL --with bertscore -c adequacy --weights 0:1:0.25"
    yield from _forms("sweep", typed)
    yield "sweep-files", f"{typed} --with nli --json made/result.json --html made/page.html"
    yield (
        "sweep-several",
        (
            f"sweep {RATED} inputs/summeval.jsonl --suite {PAIRS} --suite inputs/adversarial.jsonl -m chrf --with "
            "rougeL -c all --weights 0.2,0.5 --json made/result.json --html made/page.html"
        ),
    )
    yield "sweep-level", f"sweep {RATED} --suite {PAIRS} -m bleu --with ter -c adequacy --level system"
    yield (
        "sweep-item",
        f"sweep {RATED} --suite {PAIRS} -m bleu --with chrf -c all --level item --stat kendall_b --stat pearson",
    )
    pooling = f"sweep {RATED} --suite {PAIRS} -m nli --with pooling -c adequacy"
    yield from _forms("sweep-pooling", pooling)
    yield (
        "sweep-pooling-files",
        f"{pooling} -m nli:anchor=source -m nli-robust --json made/result.json --html made/page.html",
    )


def _synth() -> Runs:
    texts = "synth inputs/sentences.txt"
    yield "synth", f"{texts} -o made/triples.jsonl --json made/result.json --html made/page.html"
    yield "synth-lexicon", f"{texts} -o made/triples.jsonl.gz --infill lexicon --severity none --variants 2 --seed 3"
    yield "synth-show", f"{texts} --show --limit 4"
    yield "synth-quiet", f"{texts} --show --limit 2 --quiet --infill lexicon --severity none"
    yield "synth-graded", f"{texts} -o made/triples.jsonl --limit 12 --severity graded --judge nli --threshold 0.4"
    yield (
        "synth-draws",
        (
            f"{texts} -o made/triples.jsonl --operations swap,delete "
            "--set edits=2,max_edits=3,span=3,swap_window=2,top_k=2,max_words=12 "
            "--severity none"
        ),
    )
    yield "synth-calibrate", "synth --calibrate inputs/minor.jsonl --json made/result.json"
    yield "synth-calibrated", f"{texts} --limit 6 -o made/triples.jsonl --calibrate inputs/minor.jsonl --judge nli"
    yield "synth-data", f"synth {WEATHER} -o made/triples.jsonl --infill lexicon --limit 10"


def _train() -> Runs:
    yield "train-baseline", "train baseline inputs/sentences.txt -o made/baseline.csv --pairs 40"
    yield "train-baseline-quiet", "train baseline inputs/sentences.txt -o made/baseline.csv --pairs 10 --quiet --seed 3"
    yield (
        "train-baseline-used",
        f'score {PLAIN} -m bertscore:rescale=true,baseline="runs/train-baseline/baseline.csv" --no-cache',
    )
    yield "train-layers", f"train layers {RATED} -c adequacy --json made/layers.json"
    yield (
        "train-layers-item",
        f"train layers {WEATHER.replace('weather', 'oneref')} -c fluency --level item --stat kendall_b --idf --quiet",
    )
    small = "--dtype float32 --epochs 1 --batch-size 8 --rank 2"
    yield (
        "train-nli",
        (
            f"train nli inputs/nli.jsonl -o made/head.safetensors {small} --dev inputs/nli_dev.jsonl --test "
            "inputs/nli_dev.jsonl --about name=tiny "
            "--about recipe=none --about data=mine --about phenomena=negation,typos"
        ),
    )
    yield (
        "train-nli-used",
        f"score {PLAIN} -m 'nli:model=\"runs/train-nli/head.safetensors\"' --no-cache --json made/result.json",
    )
    yield (
        "train-infill",
        f"train infill inputs/sentences.txt -o made/head.safetensors {small} --dev inputs/refs2.txt --about name=tiny",
    )
    yield (
        "train-infill-used",
        "synth inputs/sentences.txt --limit 5 -o made/triples.jsonl --severity none --infill "
        "runs/train-infill/head.safetensors",
    )
    yield (
        "train-sescore",
        (
            f"train sescore inputs/triples.jsonl -o made/head.safetensors {small} --copies 0.2 --unrelated 0.2 "
            "--widths 16,8 --held-out 0.3 "
            "--curve made/curve.tsv --about name=tiny --about data=mine --about phenomena=typos --about severities=rule"
        ),
    )
    yield (
        "train-sescore-frozen",
        (
            "train sescore inputs/triples.jsonl -o made/head.safetensors --method frozen --layer mix --features 2h "
            "--widths 8 --loss mse+pairwise "
            f"--standardise --epochs 3 --batch-size 8 --dtype float32 --dev {RATED} -c adequacy --stat "
            "pearson --curve made/curve.tsv --quiet"
        ),
    )
    yield (
        "train-sescore-used",
        f"score {PLAIN} -m 'sescore:model=\"runs/train-sescore/head.safetensors\"' --no-cache --json made/result.json",
    )
    yield (
        "train-regressor",
        f"train regressor {RATED} -c adequacy -o made/head.safetensors {small} --source --widths 8 --curve "
        "made/curve.tsv",
    )
    yield (
        "train-regressor-frozen",
        (
            f"train regressor {RATED} -c adequacy -o made/head.safetensors --method frozen --layer 3,6 --widths 8 "
            "--no-reference --source "
            f"--loss pairwise --epochs 2 --batch-size 8 --dtype float32 --dev inputs/rated.tsv --seed 3"
        ),
    )
    yield (
        "train-regressor-used",
        f"score {RATED} -m 'regressor:model=\"runs/train-regressor/head.safetensors\"' --no-cache --json "
        "made/result.json",
    )


def _lists() -> Runs:
    for kind in ("metrics", "perturbations", "statistics", "formats", "suites"):
        yield f"list-{kind}", f"list {kind}"
    for task in TASKS:
        yield f"list-perturbations-{task}", f"list perturbations --task {task}"
    yield "list-perturbations-fluency", "list perturbations --task mt --criterion fluency"
    yield "doctor", "doctor"
    yield "doctor-cache", "doctor --cache kept"


def _choose() -> Runs:
    """Verbs about outputs and metrics: which words are at fault, may new outputs replace old ones, which metric."""
    yield "explain", f"explain {RATED} --json made/result.json -o made/rows.jsonl"
    yield "explain-words", f"explain {WEATHER} --method words"
    yield "explain-evidence", f"explain {RATED} --method evidence --json made/result.json"
    old = new = RATED
    yield (
        "gate",
        f"gate {old} {new} --base-system copies --new-system shouts -m chrf -m rougeL --json made/result.json "
        "--save made/kept.json",
    )
    yield "gate-fixed", f"gate {old} {new} --base-system copies --new-system copies -m bleu --items fixed -f markdown"
    yield from _forms("choose", f"choose {WEATHER} --task d2t -m bleu -m chrf -m rougeL")
    yield "choose-rated", f"choose {RATED} --task as -m chrf -m rouge1 --json made/result.json --html made/page.html"
    yield "env", "env --list"


def _refused() -> Runs:
    """What is typed wrongly; each is one line on stderr and exit code 2."""
    wrong = {
        "no-verb": "",
        "no-training": "train",
        "verb": "scor inputs/weather.jsonl",
        "option": f"score {WEATHER} --metrics bleu",
        "argument": "align --hyp one",
        "number": f"score {WEATHER} -n many",
        "metric": f"score {WEATHER} -m blue",
        "metric-option": f"score {WEATHER} -m chrf:word_ordr=2",
        "metric-value": f"score {WEATHER} -m bleu:tokenize=zhh",
        "metric-sum": f"score {WEATHER} -m '0.3*chrf + '",
        "metric-needs": f"score {WEATHER} -m summac",
        "metric-model": f"score {WEATHER} -m nli:model=nowhere/at-all",
        "metric-preset": f"score {WEATHER} -m paper/bertscore",
        "nothing": "score",
        "missing-file": "score nowhere.jsonl",
        "both": f"score {WEATHER} --hyp inputs/hyp_drops.txt",
        "lengths": "score --hyp inputs/hyp_drops.txt --ref inputs/long.txt",
        "format": f"score {WEATHER} -f html",
        "significance": f"score {WEATHER} --significance boot",
        "one-system": f"score {PLAIN} --significance bootstrap",
        "baseline": f"score {WEATHER} --significance bootstrap --baseline templat",
        "gate": f"score {WEATHER} --fail-under bleu=high",
        "gate-metric": f"score {WEATHER} -m bleu --fail-under chrf=10",
        "caches": f"score {WEATHER} --cache kept --no-cache",
        "overwrite": f"score {WEATHER} --json {WEATHER}",
        "folder": f"score {WEATHER} --json nowhere/result.json",
        "norm": f"score {WEATHER} -m bleu --save-norm made/bounds.json",
        "dtype": f"score {PLAIN} -m bertscore --dtype float8 --no-cache",
        "device": f"score {PLAIN} -m bertscore --device tpu --no-cache",
        "columns": "score inputs/theirs.tsv",
        "align-idf": "align --hyp one --ref two -m bertscore:idf=true",
        "align-metric": "align --hyp one --ref two -m chrf",
        "perturb-nothing": f"perturb {WEATHER} -o made/pairs.jsonl",
        "perturb-name": f"perturb {WEATHER} -p negatoin -o made/pairs.jsonl",
        "perturb-ending": f"perturb {WEATHER} -p negation -o made/pairs.xlsx",
        "audit-nothing": "audit -m chrf",
        "audit-suite": f"audit {WEATHER} --suite menly -m chrf",
        "audit-idle": f"audit --suite {PAIRS} --task mt -m chrf",
        "audit-task": f"audit {WEATHER} --task traduction -m chrf",
        "meta-nothing": f"meta {RATED}",
        "meta-criterion": f"meta {RATED} -m chrf -c adequate",
        "meta-unrated": "meta inputs/unrated.jsonl -m chrf",
        "meta-stat": f"meta {RATED} -m chrf -c adequacy --stat kendal",
        "meta-level": f"meta {RATED} -m chrf -c adequacy --level corpus",
        "meta-test": f"meta {RATED} -m chrf -m bleu -c adequacy --test students",
        "meta-preset": f"meta {RATED} -m chrf -c adequacy --preset wmt99",
        "meta-missing": f"meta {RATED} -m chrf --scores inputs/gaps.tsv -c adequacy",
        "meta-micro": f"meta {RATED} -m chrf -c adequacy --averaging micro",
        "meta-classes": f"meta {RATED} -m chrf -c adequacy --stat auc",
        "meta-systems": f"meta {RATED} -m chrf -c adequacy --stat pairwise_accuracy",
        "meta-column": f"meta {RATED} -m chrf {THEIRS} --scores inputs/gaps.tsv -c adequacy",
        "select-pool": f"select {RATED} -m chrf -c adequacy --hybrids 0 --pool 9",
        "sweep-suite": f"sweep {RATED} -m chrf --with bleu",
        "sweep-recipe": f"sweep {RATED} --suite menli -m chrf --with bleu -c adequacy",
        "sweep-weights": f"sweep {RATED} --suite {PAIRS} -m chrf --with bleu --weights 0:2:x",
        "synth-nothing": "synth inputs/sentences.txt",
        "synth-operation": "synth inputs/sentences.txt --show --operations swop",
        "train-method": "train sescore inputs/triples.jsonl -o made/head.safetensors --method qlora",
        "train-phenomena": "train nli inputs/nli.jsonl -o made/head.safetensors --about phenomena=negatoin",
        "train-pairs": "train nli inputs/rated.jsonl -o made/head.safetensors",
        "train-criterion": f"train regressor {RATED} -o made/head.safetensors",
        "list-kind": "list metric",
        "list-task": "list metrics --task mt",
    }
    yield from ((f"refused-{name}", typed) for name, typed in wrong.items())


STATISTICS = (
    "pearson spearman kendall_b kendall_c wmt_kendall_like rr_kendall acc_eq tau_eq acc_eq_calibrated "
    "tau_eq_calibrated pairwise_accuracy soft_pairwise_accuracy auc preference_accuracy"
).split()
