"""What is known of each format that is read or written: its name, its sign, its reader and an example.

The readers, `nlgauge list formats`, the page of formats and the tests that damage files take it from here. Fields are
told by the docstring of the reader, which the page shows. A file is told from the ending of its name, and where several
formats share one from the fields of its first row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Format:
    """One format.

    What reads it is named as `module:name` below `nlgauge.io`, and imported with its first file. Formats of segments
    have `rows` or `held`; `nlgauge.read` takes their `name`.

    Attributes:
        about: what it is, or the names of its files, in one line.
        use: how it is given or had.
        name: what lists and `format=` call it; empty where it stands in no list.
        rows: what reads a file row by row: a class of `Rows`, given the file.
        held: what reads it into memory: a function that makes a `HeldSource` of a file or a folder.
        reads: what reads a format that holds no segments: a function of the path.
        told: whose docstring tells it and its fields, where that is none of these three.
        folder: whether a folder has this format: a function that is given its path. Empty for a format of files.
        extensions: the ends of names that mean it.
        of: the format whose extensions it shares. It is recognised by its `marks`.
        marks: fields of its first row, or columns of its header, with blanks between them; all of one text are there,
            and `hyp` is not.
        alone: the same where there are no other fields beside them, in any case in a table that holds no segments.
        columns: who is told of columns with other names: its reader, given them after the file, or each row.
        example: name -> content of a small file, or of the files of a folder; empty where a program alone writes one.
    """

    about: str
    use: str = "in place of any data set"
    name: str = ""
    rows: str = ""
    held: str = ""
    reads: str = ""
    told: str = ""
    folder: str = ""
    extensions: tuple[str, ...] = ()
    of: str = ""
    marks: tuple[str, ...] = ()
    alone: tuple[str, ...] = ()
    columns: tuple[Literal["reader", "row"], ...] = ()
    example: Mapping[str, str] = field(default_factory=dict)

    @property
    def documented(self) -> str:
        """What has the docstring about it."""
        return self.told or self.rows or self.held or self.reads


FORMATS: Mapping[str, Format] = {
    "Text": Format(
        about="one segment per line (any name, .gz), or SGM and XML of WMT: --hyp, --ref, --src",
        use="`nlgauge score --hyp FILE --ref FILE --src FILE`, once for each system and reference",
        name="text",
        told="parallel:open_parallel",
    ),
    "SGM and XML of WMT": Format(
        about="any name", use="`nlgauge score --hyp FILE --ref FILE --src FILE`", told="wmt.submissions:read_sgm"
    ),
    "JSON": Format(
        about=(
            "JSON lines (.jsonl .ndjson .json .jl, .gz), or one array of objects: one row per segment, with"
            " the names of our fields"
        ),
        use="`nlgauge score data.jsonl`",
        name="jsonl",
        rows="rows:JsonRows",
        extensions=(".jsonl", ".ndjson", ".json", ".jsonlines", ".jl"),
        columns=("row",),
        example={
            "a.json": (
                '{"id":"1","system":"A","seg":"1","lp":"de-en","src":"eins zwei","refs":["one two"],"hyp":"one",'
                '"human":{"quality":3.5}}\n'
            )
        },
    ),
    "TSV": Format(
        about="TSV (.tsv, .gz): the same names as columns of a header",
        use="`nlgauge score data.tsv`",
        name="tsv",
        rows="rows:tab_rows",
        extensions=(".tsv", ".tab"),
        columns=("reader",),
        example={"a.tsv": "id\thyp\tref\tref2\thuman.q\na\th\tr\tq\t3.5\n"},
    ),
    "PAWS and QQP": Format(
        about=(
            "PAWS, PAWS-X and QQP (.tsv, .gz): sentence1 is the reference, sentence2 the hypothesis, label the rating"
        ),
        use="`nlgauge meta FILE`",
        name="paws",
        rows="rows:tab_rows",
        of="tsv",
        marks=("sentence1 sentence2 label",),
        columns=("reader",),
        example={"a.tsv": "id\tsentence1\tsentence2\tlabel\n1\ta\tb\t0\n"},
    ),
    "CSV": Format(
        about="CSV (.csv, .gz): our own names; COMET's src, mt, ref, score",
        use="`nlgauge score data.csv`",
        name="csv",
        rows="rows:DelimitedRows",
        extensions=(".csv",),
        columns=("reader",),
        example={"a.csv": 'src,mt,ref,score,lp\ns,"a <v>b</v>, c",r,-0.5,de-en\n'},
    ),
    "Parquet": Format(
        about="Parquet (.parquet): the same names as columns; needs the extra 'parquet'",
        use="`nlgauge score data.parquet`",
        name="parquet",
        rows="frames:ParquetRows",
        extensions=(".parquet",),
        columns=("reader", "row"),
    ),
    "inspect_ai": Format(
        about="inspect_ai: .eval (zip, also Zstandard) and its JSON, with scores, epochs as runs",
        name="inspect",
        held="logs.tools:open_inspect",
        of="jsonl",
        extensions=(".eval",),
        marks=("status eval",),
        example={
            "a.json": (
                '{"status":"success","eval":{"task":"t","model":"m"},"samples":[{"id":"q","epoch":1,"input":"x",'
                '"target":"y","output":{"completion":"y"},"scores":{"match":{"value":"C"}}}]}\n'
            )
        },
    ),
    "lm-evaluation-harness": Format(
        about="lm-evaluation-harness: samples_TASK_DATE.jsonl, answers after one filter",
        name="lm-eval",
        held="logs.harnesses:open_lmeval",
        of="jsonl",
        marks=("doc doc_id target", "doc_id filtered_resps"),
        columns=("reader",),
        example={
            "samples_t_2026.jsonl": (
                '{"doc_id":0,"doc":{"question":"2+2?"},"target":"4","filtered_resps":["4"],"metrics":["em"],"em":1.0}\n'
            )
        },
    ),
    "promptfoo": Format(
        about="promptfoo: -o results.json, and results.jsonl with one result per line",
        name="promptfoo",
        held="logs.tools:open_promptfoo",
        of="jsonl",
        marks=("evalId results", "promptIdx testIdx"),
        columns=("reader",),
        example={
            "results.json": (
                '{"evalId":"e","results":{"version":3,"results":[{"promptIdx":0,"testIdx":0,"provider":{"id":"x"},'
                '"vars":{"w":"hi"},"response":{"output":"hi"},"success":true,"score":1,"namedScores":{"tone":0.8}}]}}\n'
            )
        },
    ),
    "Every Eval Ever": Format(
        about="Every Eval Ever: instance lines, UUID_samples.jsonl",
        name="every-eval-ever",
        held="logs.harnesses:open_every",
        of="jsonl",
        marks=("schema_version evaluation_id sample_id",),
        example={
            "e_samples.jsonl": (
                '{"schema_version":"0.3.0","evaluation_id":"e","model_id":"m","sample_id":"s",'
                '"output":{"raw":["y"]},"evaluation":{"score":1}}\n'
            )
        },
    ),
    "deepeval": Format(
        about="deepeval: test_run_DATE.json, and .latest_test_run.json",
        name="deepeval",
        held="logs.tools:open_deepeval",
        of="jsonl",
        marks=("testCases", "testRunData"),
        columns=("reader",),
        example={
            "test_run.json": (
                '{"testCases":[{"input":"q","actualOutput":"a","metricsData":[{"name":"m","score":0.5,'
                '"success":true}]}]}\n'
            )
        },
    ),
    "MLflow tables": Format(
        about="MLflow: eval_results_table.json, columns and data",
        name="mlflow",
        held="logs.platforms:open_mlflow",
        of="jsonl",
        marks=("columns data",),
        columns=("reader",),
        example={"eval_results_table.json": '{"columns":["inputs","outputs","m/v1/score"],"data":[["a","b",0.5]]}\n'},
    ),
    "MLflow traces": Format(
        about="MLflow: traces with their feedback, one per line, in a list, or as `mlflow traces search` prints them",
        name="mlflow-traces",
        held="logs.platforms:open_traces",
        of="jsonl",
        marks=("trace_id trace assessments",),
        alone=("info data", "traces", "traces next_page_token"),
        columns=("reader",),
        example={
            "t.jsonl": (
                '{"info":{"trace_id":"tr-1","assessments":[{"assessment_name":"a","feedback":{"value":true}}]},'
                '"data":{"spans":[{"span_id":"KzNY7qF38+4=","parent_span_id":null,'
                '"attributes":{"mlflow.spanInputs":"\\"x\\"","mlflow.spanOutputs":"\\"y\\""}}]}}\n'
            )
        },
    ),
    "openai/evals": Format(
        about="openai/evals: the events of a run, joined by sample_id",
        name="openai-evals",
        held="logs.platforms:open_evals",
        of="jsonl",
        marks=("sample_id run_id event_id type",),
        alone=("spec",),
        columns=("reader",),
        example={
            "e.jsonl": (
                '{"spec":{"completion_fns":["m"],"eval_name":"e","run_id":"r"}}\n'
                '{"run_id":"r","event_id":0,"sample_id":"s","type":"sampling","data":{"prompt":"x","sampled":["y"]}}\n'
                '{"run_id":"r","event_id":0,"sample_id":"s","type":"match","data":{"correct":true,"expected":"y",'
                '"sampled":"y"}}\n'
                '{"final_report":{}}\n'
            )
        },
    ),
    "OpenAI batches": Format(
        about="OpenAI's batch output: one answer per line, joined by custom_id",
        name="openai-batch",
        held="logs.platforms:open_batch",
        of="jsonl",
        marks=("custom_id response",),
        example={
            "o.jsonl": (
                '{"custom_id":"1","response":{"status_code":200,"body":{"choices":[{"message":{"content":"x"}}]}}}\n'
            )
        },
    ),
    "lighteval": Format(
        about="lighteval: details_TASK_DATE.parquet, answers and scores of a task; needs the extra 'parquet'",
        name="lighteval",
        held="logs.harnesses:open_lighteval",
        of="parquet",
        marks=("doc model_response metric", "predictions gold metrics"),
        columns=("reader",),
    ),
    "HELM": Format(
        about="HELM: the folder of a run, with the statistics of each instance",
        name="helm",
        held="logs.harnesses:open_helm",
        folder="logs.harnesses:is_helm",
        example={
            "run_spec.json": '{"name":"t:s=1,model=m","adapter_spec":{"model":"m"}}\n',
            "scenario_state.json": (
                '{"request_states":[{"instance":{"id":"i","input":{"text":"q"},"references":[{"output":{"text":"r"},'
                '"tags":["correct"]}]},"train_trial_index":0,"result":{"success":true,'
                '"completions":[{"text":"a"}]}}]}\n'
            ),
            "per_instance_stats.json": (
                '[{"instance_id":"i","train_trial_index":0,"stats":[{"name":{"name":"em"},"mean":1.0}]}]\n'
            ),
        },
    ),
    "Scores of any program": Format(
        about="JSON lines, TSV, CSV or Parquet with id, or system and seg; sacrerouge's JSON lines",
        use="`nlgauge meta DATA --scores FILE`; the metric `scores:file=FILE`",
        name="scores",
        reads="scores:read_scores",
        example={
            "a.jsonl": '{"id":"a","system":"S","seg":"1","lp":"x-y","m":0.5,"n":null}\n{"id":"b","seg":"2","m":-1}\n'
        },
    ),
    "Verdicts of judges": Format(
        about="JSON lines with item, judge and score, or first, second and verdict",
        use="in Python",
        name="verdicts",
        reads="ratings:read_verdicts",
        example={
            "v.jsonl": (
                '{"item":"1","judge":"J","system":"a","score":4}\n'
                '{"item":1,"judge":"J","first":"a","second":"b","verdict":"tie","repeat":2}\n'
            )
        },
    ),
    "Judge cards": Format(
        about="what is known of a judge, JSON; write_card writes it",
        use="`nlgauge gate --judge-card FILE`",
        name="judge-card",
        reads="ratings:read_card",
        told="ratings:JudgeCard",
        example={
            "c.json": (
                '{"schema":1,"kind":"judge-card","model":"m",'
                '"prompt_sha256":"0000000000000000000000000000000000000000000000000000000000000000","n":4,'
                '"label_policy":"one person","kappa":0.5,"base_rate":0.7,"date":"2026-11-01",'
                '"systems":{"a":{"hits":1,"positives":2,"rejected":1,"negatives":2}}}\n'
            )
        },
    ),
    "WMT submissions": Format(
        about="METRIC.seg.score and METRIC.sys.score (.gz) of WMT17 to WMT24, and mt-metrics-eval's; written too",
        use="`nlgauge meta DATA --scores FILE`; `nlgauge meta check FOLDER FILE`",
        name="wmt-scores",
        reads="wmt.submissions:read_submission",
        example={"m.seg.score": "BLEU\tcs-uk\tset1\tnews\td1\trefA\tS.1\t2\t0.5\n"},
    ),
    "Items of WMT25 and WMT26": Format(
        about=(
            "WMT25 and WMT26: one item a line with the outputs of all systems (hyps, tgt_text), or documents"
            " of one system (doc_id, hypothesis)"
        ),
        use="`nlgauge score items.jsonl`",
        name="wmt-items",
        rows="wmt.items:ItemRows",
        of="jsonl",
        marks=("item_id hyps", "doc_id tgt_text", "doc_id hypothesis paragraphs_match", "doc_id hypothesis direction"),
        alone=(
            "doc_id hypothesis",
            "doc_id hypothesis metadata",
            "system doc_id hypothesis",
            "system doc_id hypothesis metadata",
        ),
        columns=("reader", "row"),
        example={
            "i.jsonl": (
                '{"item_id":"official_###_eng_Latn_###_deu_Latn_###_edu_###_d_###_0","src":"s","ref":{"text":"r",'
                '"type":"postedit"},"hyps":{"A":"h i","B":"j"}}\n'
            )
        },
    ),
    "General task of WMT25 and WMT26": Format(
        about="WMT25 and WMT26 general task: a folder of NAME-genmt.jsonl and systems/SYSTEM.jsonl",
        use="`nlgauge score FOLDER`",
        name="wmt-general",
        held="wmt.items:open_general",
        folder="wmt.items:is_general",
        example={
            "w-genmt.jsonl": (
                '{"doc_id":"W_###_edu_###_ces_Latn_###_deu_Latn_###_a","src_text":"s","refs":{"refA":{"ref":"r"}}}\n'
            ),
            "systems/A.jsonl": '{"doc_id":"W_###_edu_###_ces_Latn_###_deu_Latn_###_a","hypothesis":"h"}\n',
        },
    ),
    "Answers to WMT26": Format(
        about="`.jsonl`",
        use="`nlgauge meta check ITEMS ANSWERS`",
        told="wmt.items:check_answers",
        example={
            "a.jsonl": (
                '{"item_id":"official_###_eng_Latn_###_deu_Latn_###_edu_###_d_###_0","task2_pred":{"A":0.5,"B":100},'
                '"task3_pred":{"A":1,"B":0},"task1_pred":{"A":{"errors":[{"start":0,"end":1,"severity":"minor",'
                '"category":null}],"omission":null,"instruction_fault":"major"}}}\n'
            )
        },
    ),
    "Annotations of Pearmut": Format(
        about="Pearmut: annotations of a campaign, CAMPAIGN.jsonl or as downloaded, with scores and error spans",
        use="`nlgauge meta FILE`; `nlgauge meta DATA --judgements FILE`; `nlgauge meta spans DATA NAME=FILE`",
        name="pearmut",
        held="judgements:open_pearmut",
        of="jsonl",
        marks=("annotation user_id",),
        told="judgements:rated_outputs",
        example={
            "p.jsonl": (
                '{"annotation":[{"A":{"score":70,"error_spans":[{"start_i":0,"end_i":2,"severity":"major"}],'
                '"sliders":{"f":1}}}],"item":[{"item_id":"i","src":"s","tgt":{"A":"h i"}}],"user_id":"u","item_i":0}\n'
            )
        },
    ),
    "WMT15 and WMT16": Format(
        about="WMT15 and WMT16 direct assessment: a folder of SET.source.LP, .reference.LP, .mt-system.LP, .human.LP",
        use="`nlgauge meta FOLDER`",
        name="wmt-da",
        held="wmt.annotations:open_da",
        folder="wmt.annotations:is_da",
        example={
            "t.source.de-en": "eins\nzwei\n",
            "t.reference.de-en": "one\ntwo\n",
            "t.mt-system.de-en": "a\nb\n",
            "t.human.de-en": "0.25\n-1e-1\n",
        },
    ),
    "Direct assessment of WMT17": Format(
        about="DA-seglevel.csv, LP DATA SYSTEM SID HUMAN",
        use="`nlgauge meta DATA --judgements FILE`",
        name="wmt17-da",
        reads="wmt.annotations:read_da_scores",
        alone=("LP DATA SYSTEM SID HUMAN",),
        example={"DA-seglevel.csv": "LP DATA SYSTEM SID HUMAN\nen-cs set A 1 0.5\n"},
    ),
    "ESA": Format(
        about="ratings of an ESA campaign, the CSV of WMT24, 12 columns without a header",
        use="`nlgauge meta DATA --judgements FILE`",
        name="esa",
        reads="wmt.annotations:read_esa_scores",
        example={"esa.csv": 'r1,A,1,TGT,eng,deu,80,doc#1,false,"[{""severity"": ""minor""}]",1.0,2.0\n'},
    ),
    "Relative ranks": Format(
        about="RR-seglevel.csv and DArr-seglevel.csv, LP DATA SID BETTER WORSE",
        use="`nlgauge meta DATA --pairs FILE`",
        name="relative-ranks",
        reads="ratings:read_relative_ranks",
        example={"RR-seglevel.csv": "LP DATA SID BETTER WORSE DIFF\nen-cs set 1 A B 25.5\n"},
    ),
    "mt-metrics-eval": Format(
        about="mt-metrics-eval: the folder of one test set, with its human scores of segments",
        use="`nlgauge meta FOLDER`",
        name="mtme",
        held="wmt.mtme:open_mtme",
        folder="wmt.mtme:is_mtme",
        told="wmt.mtme:read_eval_set",
        example={
            "sources/cs-uk.txt": "eins\nzwei\n",
            "documents/cs-uk.docs": "news d1\ntalk d2\n",
            "references/cs-uk.refA.txt": "one\ntwo\n",
            "system-outputs/cs-uk/A.txt": "a1\na2\n",
            "system-outputs/cs-uk/B.txt": "b1\nb2\n",
            "human-scores/cs-uk.mqm.seg.score": "A\t-1\nA None\nB\t-2.5\nB\t0\n",
            "human-scores/cs-uk.mqm.sys.score": "A -1\nB -1.25\n",
            "metric-scores/cs-uk/X-refA.seg.score": "A 1\nA 2\nB 3\nB 4\n",
            "metric-scores/cs-uk/X-refA.sys.score": "A 1.5\nB 3.5\n",
        },
    ),
    "MQM": Format(
        about="MQM annotations (.tsv, .gz): one marked error a row, scored with the standard weights",
        use="`nlgauge meta FILE`",
        name="mqm",
        held="wmt.annotations:open_mqm",
        of="tsv",
        marks=(
            "system doc doc_id rater source target category severity",
            "system doc docSegId rater source target category severity",
        ),
        told="wmt.annotations:read_mqm",
        example={
            "a.tsv": (
                "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
                "A\td\t1\t1\tr\tin\t<v>out</v>\tStyle\tMajor\n"
            )
        },
    ),
    "Averages of MQM": Format(
        about="system mqm_avg_score seg_id",
        use="`nlgauge meta DATA --judgements FILE`",
        name="mqm-averages",
        reads="wmt.annotations:read_mqm_averages",
        alone=("system mqm_avg_score seg_id",),
        example={"avg.tsv": "system mqm_avg_score seg_id\nA -0.000 1\nA None 2\n"},
    ),
    "Marked errors in JSON lines": Format(
        about="`.jsonl`",
        use="as marked errors",
        reads="marked:read_marked_rows",
        example={
            "m.jsonl": '{"id":"a","hyp":"h i","spans":[{"start":0,"end":1,"severity":"minor","confidence":0.5}]}\n'
        },
    ),
    "Marked errors of mt-metrics-eval": Format(
        about="LP.NAME.seg.rating of mt-metrics-eval",
        use="as marked errors",
        name="mtme-ratings",
        reads="marked:read_rating_spans",
        example={
            "cs-uk.mqm.seg.rating": (
                'A\t{"errors": [{"severity": "major", "category": "Style", "start": 1, "end": 2}]}\tr1\nA\tNone\n'
            )
        },
    ),
    "Marked errors of MQM": Format(about="`.tsv`", use="as marked errors", told="marked:read_mqm_spans"),
    "Marked errors of WMT QE and WMT25": Format(
        about="`.tsv`",
        use="as marked errors",
        reads="marked:read_span_table",
        example={
            "m.tsv": (
                "segment_id\thypothesis_segment\tstart_indices\tend_indices\terror_types\n"
                "1\th i\t0 2\t1 3\tmajor minor\n"
            )
        },
    ),
    "SummEval": Format(
        about=("SummEval's model_annotations.aligned.jsonl, also paired or scored: expert and crowd ratings as lists"),
        use="`nlgauge meta FILE`",
        name="summeval",
        rows="judgements:SummEvalRows",
        of="jsonl",
        marks=("decoded model_id",),
        example={
            "a.jsonl": (
                '{"id":"dm-1","model_id":"M1","decoded":"A text .","references":["one"],'
                '"expert_annotations":[{"fluency":3},{"fluency":2}],"turker_annotations":[{"fluency":3}]}\n'
            )
        },
    ),
    "Pairs of texts": Format(
        about="`.jsonl`, `.json`, `.tsv`, `.csv`",
        use="`nlgauge audit --suite FILE`",
        reads="suites.suites:read_suite",
        told="suites.rows:pair_of",
        example={
            "s.jsonl": (
                '{"id":"p","phenomenon":"negation","criterion":"adequacy","src":"s","ref":"r","better":"it is",'
                '"worse":"it is not"}\n'
            )
        },
    ),
    "Preferences of people": Format(
        about="JSON lines with better_id and worse_id",
        use="`nlgauge meta DATA --pairs FILE`",
        name="pairs",
        reads="ratings:read_pairs",
        example={"p.jsonl": '{"better_id":"a","worse_id":"b"}\n{"better_id":"b","worse_id":"c"}\n'},
    ),
    "Tables of paraphrases": Format(
        about="`.jsonl`, `.tsv`, `.csv`; PAWS",
        use="`nlgauge audit DATA --suite menli:paraphrases=FILE`",
        reads="suites.suites:paraphrases_in",
        example={"t.jsonl": '{"text":"a","paraphrase":"b"}\n'},
    ),
    "Segments written": Format(
        about="--segments (.tsv .jsonl, .gz; .parquet): id, seg, system, one column per metric and part",
        use="`--segments FILE`",
        name="written",
        told="write:writing",
    ),
}
# What `read` and `open_data` read as segments, by the names that lists have.
OURS: Mapping[str, Format] = {one.name: one for one in FORMATS.values() if one.rows or one.held}


def named(target: str) -> Any:
    """A function, class or module below `nlgauge.io`, or of a room above, as `module:name`."""
    module, _, name = target.partition(":")
    found = import_module(module if module.startswith("nlgauge.") else f"nlgauge.io.{module}")
    return getattr(found, name) if name else found


def reader_by_header(header: str) -> str:
    """What reads a table that holds no segments and has this header, of words in any case; empty if nothing does."""
    words = {*header.upper().split()}
    tables = (one for one in FORMATS.values() if any({*alone.upper().split()} == words for alone in one.alone))
    return next((one.reads for one in tables), "")
