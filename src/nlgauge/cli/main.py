"""The command: what was typed, which verb it is, how its words are read, how its help looks, and what an error is."""

from __future__ import annotations

import errno
import gc
import io
import os
import re
import shlex
import signal
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from types import FrameType
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup

from nlgauge.core.errors import InputError, NlgaugeError, ScoreWarning, short
from nlgauge.report.labels import visible

if TYPE_CHECKING:
    from nlgauge.core.result import Result


# --- One run, from the words that were typed to an exit code

INPUT, INTERRUPTED = 2, 130
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# How the system, the loader of libraries and torch say that there is no memory: each raises a class of its own.
_NO_MEMORY = re.compile(
    r"(?i)(cannot|can't|unable to) (allocate|mmap)|out of memory|failed to map segment|bad_alloc|"
    r"can't start new thread"
)


def run() -> None:
    """The console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what it cannot show, as \\u escapes: never an error after hours
            stream.reconfigure(errors="backslashreplace")
    for name in ("SIGTERM", "SIGHUP"):  # Windows has no SIGHUP
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # else nohup had it ignored
            signal.signal(number, _end)
    sys.exit(main())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        0 done, also if the reader of a pipe stopped; 2 the user's input or too little memory (one line on stderr); 3 a
        failed gate (`--fail-under`, FAIL of `gate`, a fault that `meta check` found); 4 INCONCLUSIVE of `gate`; 130
        interrupted, 143 or 129 ended by SIGTERM or SIGHUP: the line says what is left. A bug raises, which is 1. With 3
        and 4 the result was written.
    """
    words = sys.argv[1:] if arguments is None else list(arguments)
    words = ["list", "runs", *words[1:]] if words[:1] == ["status"] else words  # as it was called
    try:
        command = _command_of(app)
        check_read(words)
        with warnings.catch_warnings(), typed(words):
            warnings.simplefilter("ignore", ScoreWarning)  # the notes below a result say the same
            code = command.main(args=list(map(_at_home, words)), prog_name="nlgauge", standalone_mode=False)
    except NlgaugeError as error:
        return _refuse(_lack_of_memory(error) or str(error))
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except _Ended as end:
        print(f"nlgauge: ended by {end.signal.name}; {left_of(words)}", file=sys.stderr)
        return 128 + end.signal
    except (BrokenPipeError, SystemExit):  # the reader of our output went away, as `| head` does; typer exits then
        sys.stderr.close()
        return 0
    except OSError as error:
        if lack := _lack_of_memory(error):
            return _refuse(lack)
        if error.errno not in _NO_ROOM:
            raise
        with suppress(OSError):
            sys.stdout.close()  # or Python tries once more at its end, and says so
        return _refuse(f"cannot write: {error.strerror}; is the disk full?")
    except typer.Exit as stop:
        return stop.exit_code
    except UnicodeEncodeError as error:  # a name of a file, out of a file or an escape
        if sys.getfilesystemencoding() == "utf-8":
            raise
        return _refuse(str(not_read(error.object)))
    except Exception as error:
        if lack := _lack_of_memory(error):
            return _refuse(lack)
        message = getattr(error, "format_message", None)  # usage errors, whichever library typer takes them from
        if message is None:
            raise
        context = getattr(error, "ctx", None)
        is_bare = type(error).__name__ == "NoArgsIsHelpError"  # its message is the whole help
        told = "" if is_bare else message() + _given(error)
        return _refuse(told, context.command_path if context is not None else "nlgauge")
    if code == INTERRUPTED:  # typer may have caught the signal itself
        print(f"nlgauge: interrupted; {left_of(words)}", file=sys.stderr)
    # typer's own 1 is a shell for which it has no completion; a bug raises
    return (INPUT if code == 1 else code) if isinstance(code, int) else 0


def _at_home(word: str) -> str:
    """`--cache=~/kept` with the user's folder: a shell leaves it as it is, and where there is none `~/kept` too."""
    return re.sub(r"^(--[\w-]+=)?~(?=/)", lambda found: (found[1] or "") + os.path.expanduser("~"), word)


def _given(error: Exception) -> str:
    """The value typed for an option, where typer's error says only what was expected."""
    told = getattr(error.__context__, "errors", None)
    return f", not {told()[0]['input']!r}" if told is not None else ""


def _lack_of_memory(error: BaseException | None) -> str:
    """What to say where an error, or what it was raised for, is a lack of memory; an empty text if none is."""
    while error is not None:
        number = getattr(error, "errno", None)
        # what is ours, or of a file, has names of the user's in it
        said = None if number is not None or isinstance(error, NlgaugeError) else _NO_MEMORY.search(str(error))
        if said or number == errno.ENOMEM or isinstance(error, MemoryError):
            reason = str(error).split("\n", 1)[0].strip().rstrip(".")[:200]
            return (
                f"out of memory{f' ({reason})' if reason else ''}; raise the limit, such as 'ulimit -v', or take fewer"
                " texts at a time or a smaller model"
            )
        error = error.__cause__ or error.__context__
    return ""


def _refuse(message: str, command: str = "nlgauge") -> int:
    line = short(visible(" ".join(message.split())))
    help_hint = f"; see '{command} --help'" if command != "nlgauge" else ""
    line = line.removesuffix(".") if help_hint else line  # typer ends some messages as a sentence, and some not
    print(f"nlgauge: {line}{help_hint}" if line else f"nlgauge: what to do? see {command} --help", file=sys.stderr)
    return INPUT


class _Ended(BaseException):
    """Somebody ended the process. As an exception it lets every open file clean up behind itself."""

    def __init__(self, number: int) -> None:
        self.signal = signal.Signals(number)


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)  # a second one ends it at once
    raise _Ended(number)


# --- Which verb it is: a table says of each what the verb itself says, and only the one that is typed is imported


@dataclass(frozen=True)
class Verb:
    """A verb of the command.

    Attributes:
        home: `module:function`; the function, or a `typer.Typer` of verbs.
        summary: the first line of its docstring, or the help of the group.
        example: a command that its help ends in; files are those of `examples/`.
    """

    home: str
    summary: str
    example: str = ""

    def load(self) -> Any:
        """Import it."""
        module, _, name = self.home.partition(":")
        found = getattr(import_module(module), name)
        if not gc.isenabled():  # as `__main__` leaves it
            gc.freeze()  # what was imported stays
            gc.enable()
        return found


LISTED = ("metrics", "perturbations", "statistics", "formats", "suites", "schema", "runs")  # by the verb `list`
# An option that was, of all verbs or of one, and what is typed in its place.
MOVED: Mapping[str, str] = {
    "score -lc": "an option of bleu, as in -m bleu:lowercase=true",
    "score --lowercase": "an option of bleu, as in -m bleu:lowercase=true",
    "score -tok": "an option of bleu, as in -m bleu:tokenize=zh",
    "score --tokenize": "an option of bleu, as in -m bleu:tokenize=zh",
    "score --compat": "an option of the test, as in --significance bootstrap:compat=sacrebleu",
    "score --parts": "part of what -v shows",
    "score --sort": "--pairs of --significance, which puts the best first",
    "score --workers": "an option of the engine, as in --engine pool:workers=8",
    "score --gpus-per-worker": "an option of the engine, as in --engine ray:gpus=0.5",
    "score --part-rows": "an option of the engine, as in --engine pool:rows=1000",
    "score --dry-run": "an option of the engine, as in --engine pool:dry_run=true",
    "score --ray-address": "an option of the engine, as in --engine ray:address=HOST:PORT",
    "audit --paraphrases": "an option of the suite, as in --suite menli:paraphrases=FILE",
    "audit --back-translation": "options of the suite, as in --suite menli:out=MODEL,back=MODEL",
    "audit --back-translation-languages": "options of the suite: --suite menli:out=MODEL,own=eng_Latn,other=deu_Latn",
    "audit --choose": "an option of the suite, as in --suite menli:choose=first",
    "audit --intervals": "part of what -v shows",
    **dict.fromkeys(
        [f"synth --{name}" for name in ("edits", "max-edits", "span", "swap-window", "top-k", "max-words")],
        "a part of --set, as in --set edits=8,max_words=40",
    ),
    "synth --infill-language": "a part of --set, as in --set infill_language=de_DE",
    "ruber --anchor": "what the data say: the query is the last turn of context, or src where there is none",
    **dict.fromkeys(("ruber --turns", "ruber --negatives"), "always one, as in the paper"),
    **dict.fromkeys(("report --align", "report --metric", "report -m"), "nlgauge align, of one text and its reference"),
    "gate --clusters": "--items independent, where it was none",
    "gate --guards": "an option of score alone, which looks at the texts before",
    "--spreadsheet": "the variable NLGAUGE_SPREADSHEET, as in NLGAUGE_SPREADSHEET=1 nlgauge ...",
    "--width": "an option of score and meta; -f csv has every digit",
    "-w": "an option of score and meta; -f csv has every digit",
    "--compile": "gone, since encoders are not compiled any more",
    "--limits": "the variable NLGAUGE_LIMITS, as in NLGAUGE_LIMITS=segment=20M nlgauge ...",
    "--revision": "behind the name of the model: NAME@REVISION",
    "audit --interval": "an argument of ng.audit in Python",
    "gate --undefined": "an argument of ng.gate in Python",
    "--scripts": "an argument of ng.suite and ng.audit in Python",
    "meta --spans": "a command of its own, as in nlgauge meta spans DATA words mine=FILE",
    "meta --check": "a command of its own, nlgauge meta check SET FILE",
    **{
        f"meta --{name}": f"an option of a statistic: --stat NAME:{name}={value}"
        for name, value in {
            "ties": "half",
            "threshold": "NUMBER",
            "epsilon": "NUMBER",
            "interval": "clopper-pearson",
            "folds": "N",
            "undefined": "zero",
            "common": "true",
        }.items()
    },
    "meta --outliers": "an argument of ng.meta_evaluate in Python",
    "meta --higher-is-better": "higher_is_better=true of -m scores:file=FILE,column=NAME",
    "select --higher-is-better": "higher_is_better=true of -m scores:file=FILE,column=NAME",
    "select --lower-is-better": "higher_is_better=false of -m scores:file=FILE,column=NAME",
    "select --scores": "a metric: -m scores:file=FILE,column=NAME",
    **dict.fromkeys(
        [f"select --{name}" for name in ("missing", "references")], "an argument of ng.select_models in Python"
    ),
    "select --among": "always of rated outputs, and not typed",
    "select --draw-matrix": "systems of their own in DATA, with --hybrids 0",
    "sweep --pooling": "--with pooling, and -m names the nli metrics",
    "sweep --intervals": "an argument of ng.sweep in Python",
    "sweep --choice": "always by wins, and not typed",
    "sweep --missing": "always refuse, and not typed",
    "sweep --norm": "always minmax, and not typed; meta takes a sum as in -m '0.5*chrf + 0.5*bleu[norm=zscore]'",
    "sweep --references": "always that of each metric, and not typed",
    "sweep --ties": "always loss, and not typed",
}
FRONT = ("score", "gate", "meta", "audit", "synth", "train")  # what the product is; the help has the others below
VERBS: Mapping[str, Verb] = {
    "score": Verb(
        "nlgauge.cli.score:score",
        "Score systems with any metrics, and test them against each other.",
        "nlgauge score examples/weather.jsonl -m bleu -m chrf --significance randomization",
    ),
    "align": Verb(
        "nlgauge.cli.explain:align",
        "Show token similarities, matches and weights of a hypothesis and a reference.",
        'nlgauge align --hyp "The rain stops at noon." --ref "It stops raining by midday."',
    ),
    "explain": Verb(
        "nlgauge.cli.explain:explain",
        "Mark the words at fault in texts, with severities, against references or sources.",
        'nlgauge explain --hyp "The cat sat on the hat." --ref "The cat sat on the mat."',
    ),
    "perturb": Verb(
        "nlgauge.cli.audit:perturb",
        "Perturb texts, and write pairs of before and after.",
        "nlgauge perturb examples/weather.jsonl -p negation -p typos -o pairs.jsonl",
    ),
    "audit": Verb(
        "nlgauge.cli.audit:audit",
        "Find out what a metric cannot see.",
        "nlgauge audit examples/weather.jsonl --task d2t -m chrf -m bertscore",
    ),
    "choose": Verb(
        "nlgauge.cli.choose:choose",
        "Recommend one or two metrics for these texts, with the reasons.",
        "nlgauge choose examples/weather.jsonl --task d2t",
    ),
    "meta": Verb(
        "nlgauge.cli.meta:meta",
        "Compare metrics with human judgements.",
        "nlgauge meta examples/weather.jsonl --judgements examples/weather_ratings.tsv -m chrf -c adequacy",
    ),
    "select": Verb(
        "nlgauge.cli.select:select",
        "Hits@1, MRR and Diff: how good is the best model by a metric, in the eyes of people?",
        "nlgauge select examples/weather.jsonl --judgements examples/weather_ratings.tsv -m chrf -c adequacy",
    ),
    "sweep": Verb(
        "nlgauge.cli.select:sweep",
        "Mix metrics: robustness against agreement with people, as the weight goes from 0 to 1.",
        "nlgauge sweep rated.jsonl --suite pairs.jsonl -m chrf --with nli -c adequacy",
    ),
    "synth": Verb(
        "nlgauge.cli.synth:synth",
        "Put errors into texts, edit by edit, and rate each; a stopped run continues.",
        "nlgauge synth examples/sentences.txt -o triples.jsonl --show",
    ),
    "gate": Verb(
        "nlgauge.cli.gate:gate",
        "Judge whether new outputs may replace old ones: PASS, FAIL or INCONCLUSIVE.",
        "nlgauge gate old.jsonl new.jsonl -m chrf --allow 1",
    ),
    "report": Verb(
        "nlgauge.cli.report:report",
        "Show results of any verb as one page, with what is known of each metric beside its scores.",
        "nlgauge report score.json meta.json audit.json -o report.html",
    ),
    "list": Verb(
        "nlgauge.cli.listing:list_known",
        "List metrics, perturbations, statistics with tests and protocols, formats, suites, fields of results or runs.",
        "nlgauge list metrics bertscore",
    ),
    "fetch": Verb(
        "nlgauge.cli.doctor:fetch",
        "Fetch encoders and models of the hub, once; afterwards nothing asks the network.",
        "nlgauge fetch multilingual",
    ),
    "doctor": Verb(
        "nlgauge.cli.doctor:doctor",
        "Say what is installed, which device would be used, and whether the embedded files are whole.",
        "nlgauge doctor",
    ),
    "train": Verb("nlgauge.cli.train:app", "Make what a metric needs from data."),
}
TRAIN: Mapping[str, Verb] = {
    "infill": Verb(
        "nlgauge.cli.train:train_infill",
        "Train a filler of gaps on raw sentences, for infill=FILE; a stopped run continues.",
        "nlgauge train infill sentences.txt -o infill.safetensors",
    ),
    "sescore": Verb(
        "nlgauge.cli.train_scores:train_sescore",
        "Train SEScore on synthetic errors, for sescore:model=...; a stopped run continues.",
        "nlgauge train sescore triples.jsonl -o sescore.safetensors",
    ),
    "regressor": Verb(
        "nlgauge.cli.train_scores:train_regressor",
        "Train a metric on people's ratings, for regressor:model=...; a stopped run continues.",
        "nlgauge train regressor rated.jsonl -c adequacy -o metric.safetensors",
    ),
    "blend": Verb(
        "nlgauge.cli.train_scores:train_blend",
        "Fit ratings by a weighted sum of metrics, for blend:model=FILE; scores of models are kept in the cache.",
        "nlgauge train blend rated.jsonl -m chrf -m bertscore -c adequacy -o blend.json",
    ),
    "beer": Verb(
        "nlgauge.cli.train_scores:train_beer",
        "Learn to rank hypotheses by their n-grams from ratings, for beer:model=FILE.",
        "nlgauge train beer rated.jsonl -c adequacy -o beer.json",
    ),
    "ruber": Verb(
        "nlgauge.cli.train_scores:train_ruber",
        "Train a scorer of replies on dialogues, for ruber:model=...; a stopped run continues.",
        "nlgauge train ruber dialogues.jsonl -o related.safetensors",
    ),
    "baseline": Verb(
        "nlgauge.cli.train:train_baseline",
        "Measure what unrelated sentences score at every layer, for bertscore:rescale=true,baseline=FILE.",
        "nlgauge train baseline sentences.txt -o baseline.csv",
    ),
    "layers": Verb(
        "nlgauge.cli.train:train_layers",
        "Find the layer whose BERTScore agrees best with people, for bertscore:model=...,layer=N.",
        "nlgauge train layers rated.jsonl -c adequacy",
    ),
    "nli": Verb(
        "nlgauge.cli.train:train_nli",
        "Train an NLI model on labelled pairs, for nli:model=...; a stopped run continues.",
        "nlgauge train nli pairs.jsonl -o nli.safetensors",
    ),
}
# Commands of two words, whose first is a verb by itself.
INNER: Mapping[str, Verb] = {
    "meta spans": Verb(
        "nlgauge.cli.meta:spans",
        "Compare marked errors by their place with those of people.",
        "nlgauge meta spans marked.jsonl words spans mine=marks.jsonl everything",
    ),
    "meta check": Verb(
        "nlgauge.cli.meta:check",
        "Say what the organisers of a test set would refuse in a submission.",
        "nlgauge meta check wmt23 Mine.seg.score",
    ),
}

# Their scores outlive an interruption.
_CACHED = {"score", "audit", "choose", "explain", "gate", "meta", "select", "sweep", "train layers", "train blend"}
# They go on where they were.
_RESUMED = {"synth", "train infill", "train sescore", "train regressor", "train ruber", "train nli"}


def left_of(arguments: Sequence[str]) -> str:
    """Hint after Ctrl-C: what was kept and how to resume."""
    words = [word for word in arguments if not word.startswith("-")]
    verb = " ".join(words[: 2 if words[:1] == ["train"] else 1])
    if verb in _RESUMED or any(word.partition("=")[0] == "--engine" for word in arguments):
        return "the same command goes on where this one stopped"
    cache = sys.modules.get("nlgauge.runtime.cache")
    n = cache.kept() if cache is not None and verb in _CACHED else 0
    if n:
        return f"{n} scores of models are in the cache, and the same command goes on from there"
    return "nothing was written"


# --- How its words are read, and how its help looks

_AS_WIDE_AS_THE_TERMINAL = 10_000
_SPREAD = ("--hyp", "--ref")  # further files may follow their value, as with sacrebleu; further metrics that of -m
_KINDS = {"<int>": "N", "<int range>": "N", "<float>": "NUMBER", "<float range>": "NUMBER", "<str>": "TEXT"}


class _Converted:
    """A command or a group whose options are `processed`."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All options and arguments, `--help` among them."""
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        kinds = getattr(self.callback, "kinds", {})  # type: ignore[attr-defined]
        for param in params:
            if "process_value" not in vars(param):
                param.process_value = partial(processed, param, kinds.get(param.name), param.process_value)
        return params


def processed(param: Any, kind: Any, convert: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """The value of an option or argument; what has its type already is not converted.

    Typer converts by pydantic, also what was not typed and is None; to load it took a quarter of a first command.

    Args:
        kind: its type; None where it is not known.
        convert: typer's conversion: of a context and a value.
        value: what was typed, texts, or the default.
    """
    if kind == list[str] and isinstance(value, list | tuple) and value and all(type(one) is str for one in value):
        value = list(value)
    elif value is None and not param.required:
        value = () if param.multiple or param.nargs == -1 else None
    elif not (kind in (str, bool, int, float) and type(value) is kind):
        return convert(context, value)
    return value if param.callback is None else param.callback(context, param, value)


class Command(_Converted, TyperCommand):
    """A verb: several files may follow one option; its help ends in its page and in the example, its `epilog`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; see `spread`. `--json` at its end prints."""
        from nlgauge.core.result import STDOUT  # a sixth of the start of `nlgauge --help`, which reads no verb

        own = {name for param in self.params for name in param.opts}
        for name in (word.partition("=")[0] for word in args):
            instead = MOVED.get(f"{ctx.info_name} {name}", MOVED.get(name))
            if instead and name not in own:  # first: -tok would be read as -t ok
                raise InputError(f"{name} is now {instead}")
        args = [*args, STDOUT] if args[-1:] == ["--json"] else args
        goes_on: dict[str, Callable[[str], bool]] = {}
        for param in self.params:
            if getattr(param, "multiple", False):
                further = _is_file if {*_SPREAD} & {*param.opts} else _is_metric if "--metric" in param.opts else None
                goes_on |= {} if further is None else dict.fromkeys(param.opts, further)
        return super().parse_args(ctx, spread(args, goes_on))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage line: arguments as they are declared."""
        arguments = [param for param in self.params if param.param_type_name == "argument"]
        return [self.options_metavar or "", *(str(param.metavar or param.name) for param in arguments)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Arguments and options, each with what stands for its value, under the headings of the verb."""
        heads: Mapping[str, str] = getattr(self.callback, "sections", {})
        parts: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{head: [] for head in heads.values()}}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None:
                is_option = param.param_type_name == "option"
                name = _named(record[0]) if is_option else str(param.metavar or param.name)
                head = heads.get(param.name, "Options") if is_option else "Arguments"
                parts.setdefault(head, []).append((name, record[1]))
        for head, records in parts.items():
            if records:
                with formatter.section(head):
                    formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The page of the documentation, and the example in one line that can be copied."""
        inner = [(name, one.summary) for name, one in INNER.items() if name.startswith(f"{ctx.info_name} ")]
        if inner:
            with formatter.section("Also"):
                formatter.write_dl(inner)
        verb = ctx.command_path.split()[1]  # all that `train` makes stands on its page
        for head, line in (("Page of the documentation", f"reference/verbs/{verb}"), ("Example", self.epilog)):
            if line:
                with formatter.section(head):
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


def _is_file(word: str) -> bool:
    return word == "-" or os.path.exists(word)


def _is_metric(word: str) -> bool:
    from nlgauge.metrics.registry import names_metric  # of a verb that has metrics, and loads them

    return not _is_file(word) and names_metric(word)


def spread(words: Sequence[str], options: Mapping[str, Callable[[str], bool]]) -> list[str]:
    """`-i a.txt b.txt` as `-i a.txt -i b.txt`, where `b.txt` is a file.

    Args:
        words: the command line.
        options: an option -> which further words are values of it.
    """
    read: list[str] = []
    option, takes_value = "", False
    for place, word in enumerate(words):
        if word == "--":
            return [*read, *words[place:]]
        if takes_value:
            takes_value = False
        elif word in options:
            option, takes_value = word, True
        elif word.startswith("-") and word != "-":
            option = ""
        elif option and options[option](word):
            read.append(option)
        read.append(word)
    return read


def _named(record: str) -> str:
    """`--draws N` in place of `--draws <int range>`."""
    for kind, name in _KINDS.items():
        if record.endswith(f" {kind}"):
            return record.removesuffix(kind) + name
    return record


def group_of(verbs: Mapping[str, Verb], **about: Any) -> typer.Typer:
    """A group of verbs that imports the one that is typed, and none to list them."""
    settings: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": None, "add_completion": False, **about}

    class Group(_Converted, TyperGroup):
        """Verbs by name; each is a stand-in with a summary until it is called."""

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            """Read the command line. Who asks for help beside completion of the shell gets it, and nothing else."""
            completes = any(word.endswith("-completion") for word in args)
            return super().parse_args(ctx, ["--help"] if completes and {*ctx.help_option_names} & {*args} else args)

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """The verb that is typed, imported."""
            if "list" in verbs and args[0] in LISTED and args[0] not in verbs:
                raise InputError(f"no such command {args[0]!r}; it is 'nlgauge list {args[0]}'")
            if "meta" in verbs and (inner := " ".join(args[:2])) in INNER:
                return inner, _command(inner, INNER[inner], INNER[inner].load()), args[2:]
            name, stand_in, rest = super().resolve_command(ctx, args)
            verb = None if name is None else verbs[name]
            return name, stand_in if verb is None else _command(name, verb, verb.load()), rest

        def format_commands(self, ctx: Any, formatter: Any) -> None:
            """The verbs in front, then the others."""
            front = [name for name in FRONT if name in verbs]
            for head, names in (("Commands", front), ("Also" if front else "Commands", [*verbs])):
                rows = [(name, verbs[name].summary) for name in names if name not in front or names is front]
                if rows:
                    with formatter.section(head):
                        formatter.write_dl(rows)

    app = typer.Typer(
        cls=Group,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": _AS_WIDE_AS_THE_TERMINAL},
        **settings,
    )
    for name, verb in verbs.items():
        app.command(name, help=verb.summary)(_stand_in)
    app.callback()(_stand_in)  # a group, even of one verb
    return app


def _stand_in() -> None:
    pass


@cache  # a process may run many commands
def _command(name: str, verb: Verb, loaded: Any) -> Any:
    """Typer's object for a verb: a command of a function, a group of a group."""
    if isinstance(loaded, typer.Typer):
        return _command_of(loaded)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command(name, cls=Command, help=verb.summary, epilog=verb.example)(loaded)
    return _command_of(alone)


@cache  # a process may run many commands
def _command_of(group: typer.Typer) -> Any:
    return typer.main.get_command(group)


# --- What was typed, as a result keeps it, and what is shown on a terminal

# Where a result is kept, and what is said beside it, is no part of its command.
_NOT_OF_RESULTS = ("--quiet", "-q", "--verbose", "-v", "--no-cache")
_WITH_A_PLACE = (
    *("--json", "--html", "--segments", "--svg", "--save-norm", "--output", "-o"),
    *("--junit", "--markdown", "--save", "--cache"),
)
_BYTES = re.compile("[\udc80-\udcff]")  # bytes that are no letters, as Python keeps them
_arguments: ContextVar[Sequence[str]] = ContextVar("arguments of the command", default=())


@contextmanager
def typed(arguments: Sequence[str]) -> Iterator[None]:
    """Keep the arguments of the command that runs inside."""
    token = _arguments.set(arguments)
    try:
        yield
    finally:
        _arguments.reset(token)


def check_read(arguments: Sequence[str]) -> None:
    """Refuse arguments whose letters Python has not read, because it was told not to read UTF-8.

    A name of a file that is no UTF-8 is taken where Python reads UTF-8: it opens the file, and is no text.

    Raises:
        InputError: one has letters beyond those of the encoding. Texts and names of columns would be others.
    """
    unread = next((word for word in arguments if _BYTES.search(word)), None)
    if sys.getfilesystemencoding() != "utf-8" and unread is not None:
        raise not_read(os.fsencode(unread).decode("utf-8", "replace"))


def not_read(word: str) -> InputError:
    """The error about an argument or a name of a file with letters that Python does not take."""
    encoding = sys.getfilesystemencoding()
    return InputError(
        f"Python takes arguments and names of files as {encoding} here, which {word!r} is not; unset PYTHONUTF8, or set"
        " it to 1"
    )


def as_typed(result: Result) -> Result:
    """The result with the command that made it, without the places of files that it wrote.

    So the same command gives the same bytes wherever they are kept.
    """
    return replace(result, command=shlex.join(["nlgauge", *_of_results(_arguments.get())]))


def _of_results(arguments: Sequence[str]) -> Iterator[str]:
    words = iter(arguments)
    for word in words:
        if word in _WITH_A_PLACE:
            next(words, None)
        elif word not in _NOT_OF_RESULTS and not word.startswith(tuple(f"{name}=" for name in _WITH_A_PLACE)):
            yield word


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print a text to standard output, or to standard error."""
    stream = sys.stderr if err else sys.stdout
    if stream is not None and stream.isatty():
        text = visible(text, "\n\t")
    typer.echo(text, err=err, nl=nl)


# --- The command itself

app = group_of(
    VERBS,
    name="nlgauge",
    help="nlgauge scores text with the metrics of the literature, exactly, on today's libraries, and says how far to"
    " believe them.\n\n\b\n"
    "score: BLEU to COMET, the paper's model or a small one offline, one signature\n"
    "score --significance, gate: is the difference real?\n"
    "meta, audit: does the metric agree with people, and what does it not see?\n"
    "synth, train: make one without ratings",
    epilog="To begin: of the documentation, the page 'index' has a first command for each task, and the page"
    " 'guides/choose' says which metric suits it.",
    add_completion=True,
)


def _version(asked: bool) -> None:
    if asked:
        from nlgauge.core.spec import version

        echo(f"nlgauge {version('nlgauge')}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(
        False, "--version", "-V", callback=_version, is_eager=True, help="Print the version and stop."
    ),
) -> None:
    pass
