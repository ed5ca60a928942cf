"""Options of the verbs: how a declaration becomes what was typed, and those that several verbs take."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import os
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import MISSING, dataclass, is_dataclass, replace
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

from nlgauge.cli.main import echo
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.metric import options_of, spec_of
from nlgauge.core.options import Argument, Entry, Field, Range, Typed, check_option, fields_of, sorts
from nlgauge.core.options import refuse_idle as refuse_idle_options
from nlgauge.core.result import STDOUT, Result, check_target
from nlgauge.core.scores import MetricInfo
from nlgauge.core.segment import Dataset
from nlgauge.core.spec import split
from nlgauge.io.fields import is_known, may_repeat
from nlgauge.io.files import STDIN
from nlgauge.metrics.function import predicts
from nlgauge.metrics.registry import ALIKE, METRICS, NAMED, OWN, metric, metric_names, own_function, own_names
from nlgauge.report.labels import visible
from nlgauge.report.tables import CELLS, DATA, FORMS, WIDE
from nlgauge.report.text import check_form, doubt_line, render
from nlgauge.runtime.cache import ScoreCache, default_path
from nlgauge.runtime.runtime import DTYPES, ENCODERS, Advance, Runtime, encoder_of, silent

R = TypeVar("R")
G = TypeVar("G", bound=Any)
Parts = Mapping[str, Mapping[str, bool | None]]  # specification -> part -> whether higher is better

_MINUTE = 60.0  # seconds
_DEVICE = re.compile(r"(auto|cpu|cuda|mps|xpu|hpu|npu)(:[0-9]+)?")


# --- From a declaration to what was typed: a verb, its groups of options, an option, its value


def verb(
    without: Collection[str] = (),
    defaults: Mapping[str, Any] = MappingProxyType({}),
    sections: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Make a function a verb: its parameters that are `Typed` are options, and a dataclass stands for its fields.

    The verb below has the options of `Common` on the command line, and those of `Files` without `--segments`:

        @options.verb(without={"segments"})
        def align(hyp: Annotated[str, Typed("A text.")], files: options.Files, common: options.Common) -> None:
            runtime = common.runtime()

    Of a dataclass the fields that are `Typed` are options, and what `GoesWith` another one is refused alone.

    Args:
        without: fields that are no options of this verb; they keep their defaults.
        defaults: field -> its default for this verb, where it is another than that of the group.
        sections: a heading of the help -> names of parameters of the verb, with blanks between; none for one list.
    """
    heads = {name: head for head, names in sections.items() for name in names.split()}

    def given(function: Callable[..., R]) -> Callable[..., R]:
        groups: dict[str, dict[str, Field]] = {}
        options: list[inspect.Parameter] = []
        kinds = get_type_hints(function, include_extras=True)
        for parameter in inspect.signature(function).parameters.values():
            kind = kinds[parameter.name]
            if isinstance(kind, type) and is_dataclass(kind):
                groups[parameter.name] = own = {
                    name: replace(field, default=defaults[name]) if name in defaults else field
                    for name, field in _typed(kind).items()
                    if name not in without
                }
                options += map(_parameter, own.values())
            else:
                options.append(_parameter(Field(parameter.name, kind, parameter.default)))

        @wraps(function)
        def called(**typed: Any) -> R:
            made = {
                name: _made(kinds[name], own, {option: typed.pop(option) for option in own})
                for name, own in groups.items()
            }
            return function(**typed, **made)

        called.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
        called.__annotations__ = {option.name: option.annotation for option in options}
        called.kinds = {  # type: ignore[attr-defined]
            option.name: sort for option in options for sort, _ in sorts(option.annotation) if sort is not NoneType
        }
        called.sections = {  # type: ignore[attr-defined]
            option: head for name, head in heads.items() for option in groups.get(name, (name,))
        }
        return called

    return given


def _typed(group: Any) -> dict[str, Field]:
    """The fields of a dataclass that are options; the others are set in Python alone."""
    return {name: field for name, field in fields_of(group).items() if field.about(Typed) is not None}


def _parameter(field: Field) -> inspect.Parameter:
    """A field as typer reads it: as a text where its type is a choice, or several values with commas."""
    as_typed, words, kind, default = field.about(Typed), field.words, field.kind, field.default
    if as_typed is not None:
        kinds = [get_origin(sort) or sort for sort, _ in sorts(kind)]
        kind = get_args(kind)[0]
        is_choice = field.choices and not (as_typed.words and field.choices == words)  # else typer refuses other words
        if (is_choice and list not in kinds) or tuple in kinds:
            kind = str | None if NoneType in kinds else str
        default = ",".join(map(str, default)) if isinstance(default, tuple) else default
        about: dict[str, Any] = {"help": as_typed.help, "metavar": as_typed.metavar or "|".join(words) or None}
        if words or as_typed.complete is not None:
            about["autocompletion"] = _completion(as_typed.complete or (lambda: words))
        if as_typed.each is not None:
            about["callback"] = _callback(as_typed.each)
        if isinstance(as_typed, Argument):
            kind = Annotated[kind, typer.Argument(**about, show_default=False)]
        else:
            bounds = field.about(Range) or Range()
            flags = as_typed.flags or (field.flag,)
            kind = Annotated[
                kind, typer.Option(*flags, **about, hidden=as_typed.hidden, min=bounds.least, max=bounds.most)
            ]
    default = inspect.Parameter.empty if default is MISSING else default
    return inspect.Parameter(field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def _completion(words: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [word for word in words() if word.startswith(incomplete)]

    return complete


def _callback(each: Callable[[str], list[str]]) -> Callable[..., list[str] | None]:
    def read(context: typer.Context, values: list[str] | None) -> list[str] | None:
        if not values or context.resilient_parsing:  # completion must not run anybody's code
            return values
        return [one for value in values for one in each(value)]

    return read


def _made(group: type[G], own: Mapping[str, Field], typed: Mapping[str, Any]) -> G:
    """A group of options of what was typed; an error calls each option by its flag."""
    values = dict(typed)
    is_of_library = not group.__module__.startswith(f"{__package__}.")  # numbers of a verb's own are checked there
    for name, field in own.items():
        several = next((sort for sort, _ in sorts(field.kind) if get_origin(sort) is tuple), None)
        if several is not None:
            values[name] = _several(field.flag, values[name], get_args(several)[0])
        elif is_of_library or not isinstance(values[name], float):
            check_option(field.flag, values[name], field.kind, error=InputError)
    made: G = group(**values)
    refuse_idle_options(made, spelt=lambda name: own[name].flag if name in own else name)
    return made


def _several(flag: str, typed: str, kind: Any) -> tuple[Any, ...]:
    """What stands between commas: words, or whole numbers where the type says so."""
    words = [word.strip() for word in typed.split(",") if word.strip()]
    if int not in (sort for sort, _ in sorts(kind)):
        return tuple(words)
    if not all(word.isdigit() for word in words):
        raise InputError(f"{flag} is {typed!r}, expected whole numbers with commas")
    return tuple(map(int, words))


# --- What a verb asks about its options


def refuse_idle(options: Mapping[str, object], why: str) -> None:
    """Refuse the first option that was typed and would change nothing.

    Args:
        options: name of an option -> its value, false where it was not typed.
    """
    for name, value in options.items():
        if value:
            raise InputError(f"--{name.replace('_', '-')} {why}")


def untyped(context: typer.Context, values: Mapping[str, Any]) -> dict[str, Any]:
    """Of the values of a preset those whose option was not typed; what is typed beside a preset wins."""
    sources = {name: context.get_parameter_source(name) for name in values}
    return {name: values[name] for name, source in sources.items() if source is None or source.name == "DEFAULT"}


def with_values(group: G, values: Mapping[str, Any]) -> G:
    """A group of options with those of the values that are fields of it."""
    return replace(group, **{name: value for name, value in values.items() if name in vars(group)})


def flags_of(group: Any) -> dict[str, str]:
    """Field of a group of options -> its name on the command line, without dashes."""
    return {name: field.flag.removeprefix("--") for name, field in _typed(type(group)).items()}


def changed(group: Any, *names: str, usual: Any = None) -> dict[str, bool]:
    """Option, as in `flags_of` -> whether its value is another than its default, of some fields of a group of options.

    Args:
        usual: a group with the defaults, where the verb has others than its fields.
    """
    own = _typed(type(group))
    return {
        own[name].flag.removeprefix("--"): getattr(group, name) != getattr(usual, name, own[name].default)
        for name in names
    }


def given(*typed: str | Sequence[str] | None) -> list[str]:
    """All paths of options that were typed, of which some take several."""
    return [path for one in typed for path in ([one] if isinstance(one, str) else one or ())]


def check_outputs(outputs: Mapping[str, str | None], *inputs: str | Sequence[str] | None) -> None:
    """Refuse before anything is scored what cannot be read twice, or written, or would be written over."""
    read = given(*inputs)
    times = sum(path == STDIN for path in read)
    if times > 1:
        raise InputError(f"'-' (standard input) is given {times} times, expected once; name files for the others")
    named = [path for path in read if path != STDOUT and "\0" not in path]  # - is read there, NUL is refused there
    taken = {os.path.realpath(path): f"the input {path}" for path in named}
    for option, path in outputs.items():
        if path is None:
            continue
        check_target(path)
        place = path if path == STDOUT else os.path.realpath(path)
        takes_several = os.path.exists(place) and not os.path.isfile(place)  # a pipe or a terminal
        if place in taken and not takes_several:
            raise InputError(f"{option} {path} would be written over {taken[place]}; name another file")
        taken[place] = f"{option} {path}"


# --- Metrics from `-m`: specifications, lists of them with commas, and the user's own functions and classes


def specs(about: str, *flags: str) -> Typed:
    """An option that takes specifications of metrics: their names are completed, and lists are taken apart."""
    return Typed(about, flags, "SPEC", complete=metric_names, each=known_specs)


def known_specs(typed: str) -> list[str]:
    """Specifications as they are typed: `bleu,chrf` are two; `module:name` is imported and gets its own name."""
    return [_known(spec) for spec in split(typed)]


def _known(spec: str) -> str:
    """A specification whose name is known: that in the `info` of a class, that of a function, or NAME of NAME=SPEC."""
    renamed = NAMED.fullmatch(spec.strip())
    if renamed is not None:
        return _renamed(*renamed.groups())
    match = OWN.fullmatch(spec.strip())
    if match is None or match[1].lower() in map(str.lower, METRICS.names()):
        return spec
    module, name, options = match.groups()
    cls: Any = _imported(module, name)
    if predicts(cls) or not isinstance(cls, type):
        called = own_function(cls, f"{module}:{name}")
        return f"{called}:{options}" if options else called
    about = getattr(cls, "info", None) if isinstance(getattr(cls, "info", None), MetricInfo) else None
    called, target = about.name if about is not None else name, f"{module}:{name}"
    entry = METRICS.entries.get(called)
    if called in METRICS.names() and (entry is None or entry.target != target):
        raise InputError(f"{target} calls itself {called!r}, as another metric does; give its info another name")
    METRICS.entries[called] = Entry(target)
    return f"{called}:{options}" if options else called


def _renamed(name: str, spec: str) -> str:
    """A name of the user's, which stands for a metric with its options from here on.

    Raises:
        InputError: another metric has the name, or it is given to a sum.
        SpecError: there is no such metric.
    """
    if name in METRICS.names() and name not in own_names():
        raise InputError(f"{name}={spec}: {name!r} is another metric; give a name that none has")
    built: Any = metric(_known(spec))
    if not dataclasses.is_dataclass(built) or spec_of(built).partition(":")[0] not in METRICS.names():
        raise InputError(f"{name}={spec}: only a metric that is no sum takes a name")
    preset = {field.name: getattr(built, field.name) for field in options_of(built)}
    METRICS.entries[name] = Entry(f"{type(built).__module__}:{type(built).__qualname__}", preset)
    return name


def _imported(module: str, name: str) -> Any:
    """The class or function, from an installed module or from one in the current folder."""
    target = f"{module}:{name}"
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # behind all others, so that no file of the folder hides a library
    try:
        cls = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name is not None and module != error.name and not module.startswith(f"{error.name}."):
            raise InputError(f"{target} cannot be imported: it needs the module {error.name!r}") from None
        slip = difflib.get_close_matches(module, METRICS.names(), 1, ALIKE)
        advice = f"; did you mean {slip[0]!r}?" if slip else f"; put {module}.py there, or install it"
        raise SpecError(
            f"unknown metric {target!r}: no module {module!r} is installed or in the current folder{advice}"
        ) from None
    except (Exception, SystemExit) as error:  # whatever somebody's module does
        raise InputError(f"{target} cannot be imported: {type(error).__name__}: {error}") from None
    if cls is None:
        held = vars(sys.modules[module])
        public = [other for other in held if not other.startswith("_") and callable(held[other])]
        raise InputError(f"{target}: the module has no {name!r}{nearest(name, public)}")
    is_metric = isinstance(cls, type) and dataclasses.is_dataclass(cls) and {"info", "score"} <= {*dir(cls)}
    if not is_metric and not predicts(cls) and (isinstance(cls, type) or not callable(cls)):
        raise InputError(
            f"{target} is no metric, expected def {name}(hypothesis, references), or a class with predict(samples),"
            " or a frozen dataclass with 'info' and 'score'"
        )
    return cls


# --- Options that several verbs take, each written once

LanguagePairs = Annotated[
    list[str] | None, Typed("Take this language pair (or task) alone; repeat for several.", metavar="NAME")
]
CacheFolder = Annotated[
    str | None, Typed("Folder of the score cache.  [default: the user's cache folder]", metavar="DIR")
]
Quiet = Annotated[
    bool,
    Typed(
        "Only numbers, what their signs mean, which of them mean nothing, and errors; LaTeX keeps signatures.",
        ("--quiet", "-q"),
    ),
]


Columns = Annotated[
    list[str] | None, Typed("Fields of DATA with other names: hyp=prediction,ref=references.", metavar="FIELD=NAME,...")
]

Criteria = Annotated[
    list[str] | None,
    Typed("What was rated; 'all' criteria, or each text's 'mean' of them.", ("--criterion", "-c"), "NAME"),
]
Criterion = Annotated[str | None, Typed("What was rated.", ("--criterion", "-c"), "NAME")]
Judgements = Annotated[
    str | None,
    Typed(
        "Ratings in a table of their own, joined to DATA: scores, a log of Pearmut, averages of MQM.",
        metavar="FILE",
    ),
]
Rated = Annotated[
    list[str],
    Argument(
        "Texts with ratings: JSON lines, TSV, CSV, Parquet, or the folder of a test set; several: one per system.",
        metavar="DATA...",
    ),
]


@dataclass(frozen=True)
class Judged:
    """What is held against people: metrics, and how ratings are found."""

    columns: Columns = None
    metric: Annotated[list[str] | None, specs("Metrics to score: chrf, bleu, bertscore ...", "--metric", "-m")] = None
    criterion: Criteria = None
    judgements: Judgements = None

    def read(self, paths: Sequence[str]) -> tuple[Dataset, list[dict[str, str]]]:
        """The texts of an input with their ratings, and the files read."""
        from nlgauge.io.evalset import read_set

        return read_set(paths, columns_of(self.columns), self.judgements)


def columns_of(typed: Sequence[str] | None) -> dict[str, str] | None:
    """Field -> its name in the data, of `--columns`; None where it was not given.

    Where several names are one field, it is name -> field: of `hyp` each is a system, of a criterion each is a rater. A
    name may hold commas and equal signs, and stand in double quotes.

    Raises:
        InputError: it is no list of FIELD=NAME, or another field is named twice.
    """
    if not typed:
        return None
    named: dict[str, list[str]] = {}
    for pair in (pair for listed in typed for pair in _pairs(listed)):
        field, equals, name = (part.strip() for part in pair.partition("="))
        if not (field and equals and name):
            raise InputError(f"--columns {pair!r}: expected FIELD=NAME, as in hyp=prediction,ref=references")
        name = name[1:-1].replace('""', '"') if _QUOTED.fullmatch(name) else name
        if field in named and (name in named[field] or not may_repeat(field)):
            several = "; several references are ref1, ref2, ..." if field.startswith("ref") else ""
            raise InputError(f"--columns names {field!r} twice, expected once{several}")
        named.setdefault(field, []).append(name)
    if all(len(names) == 1 for names in named.values()):
        return {field: name for field, (name,) in named.items()}
    return {name: field for field, names in named.items() for name in names}


_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_OPEN = re.compile(r'[^=]*=\s*"(?:[^"]|"")*\Z')  # a pair whose name has no closing quote yet


def _pairs(typed: str) -> list[str]:
    """FIELD=NAME,FIELD=NAME taken apart. A name may hold commas, and goes on where no field follows one.

    In double quotes it may hold anything, and a quote is written twice.
    """
    pairs: list[str] = []
    parts = [[word.strip() for word in part.partition("=")] for part in typed.split(",")]
    is_ours = is_known(parts[0][0])  # a suite has other fields
    for part, (field, equals, name) in zip(typed.split(","), parts, strict=True):
        is_field = is_known(field) or is_known(name) or not is_ours or part[:1] > " "
        begins = not part.strip() or (equals and is_field)
        if pairs and (_OPEN.match(pairs[-1]) or not begins):
            pairs[-1] += f",{part}"
        else:
            pairs.append(part)
    return pairs


@dataclass(frozen=True)
class Common:
    """How a verb works: what makes its draws, where models run, and what is kept and shown meanwhile.

    Scores of models are kept by signature and texts in one file, `scores.sqlite`, which several runs may use at once:
    in `--cache DIR`, `$NLGAUGE_CACHE`, or `nlgauge` in the user's cache folder. Each row has a checksum; one that does
    not fit is scored again. Where the user's own cache cannot be written, a run goes on without it, with a note. A
    damaged file is deleted by `nlgauge doctor --prune`.

    `--device`, `--dtype` and `--encoder`: precision and encoder are part of the signature. `--encoder auto` takes
    `multilingual` where a tenth of the texts of a language pair, or of all others, are not English, and `embedded`
    elsewhere (`base` if NLGAUGE_ENCODER names it): one for a run, with a note. `sweep`, `gate`, `train` and `--engine`
    want its name. There is no configuration file. Two variables are for few: `NLGAUGE_LIMITS=segment=20M,line=1G`
    raises the largest inputs, and `NLGAUGE_SPREADSHEET=1` puts `'` before cells that a spreadsheet takes for formulas.
    """

    typed_seed: Annotated[int | None, Typed("Seed of everything drawn at random.  [default: 0]", ("--seed",))] = None
    device: Annotated[
        str, Typed("Where models run.", metavar="auto|cpu|cuda|cuda:N|mps", words="auto cpu cuda mps")
    ] = "auto"
    dtype: Annotated[str, Typed("Precision of models. Part of the signature.", words=("auto", *DTYPES))] = "float32"
    cache: CacheFolder = None
    no_cache: Annotated[bool, Typed("Neither read nor keep scores.")] = False
    quiet: Quiet = False
    encoder: Annotated[
        str | None, Typed("The encoder of metrics that name no model.  [default: embedded]", words=ENCODERS)
    ] = None

    @property
    def default_encoder(self) -> str:
        """The encoder of metrics that name no model: as typed, or of the environment."""
        return encoder_of(self.encoder)

    @property
    def seed(self) -> int:
        """The seed; 0 where none is typed."""
        return self.typed_seed or 0

    def runtime(self, *, seed: int | None = None, quiet: bool = False, cached: bool = True) -> Runtime:
        """The runtime that the options describe; progress shows on stderr where it is a terminal.

        Args:
            seed: of a verb that has a seed of its own.
            quiet: show no progress, whatever the options say.
            cached: keep scores, unless the options say otherwise.
        """
        if self.cache is not None and self.no_cache:
            raise InputError("--cache and --no-cache are both given; choose one")
        if not _DEVICE.fullmatch(self.device):
            raise InputError(f"--device is {self.device!r}, expected auto, cpu, cuda, cuda:N or mps")
        return Runtime(
            device=self.device,
            dtype=self.dtype,
            seed=self.seed if seed is None else seed,
            cache=self._cache(quiet or self.quiet) if cached and not self.no_cache else None,
            progress=silent if quiet or self.quiet else bar if sys.stderr.isatty() else each_minute,
            encoder=self.encoder,
        )

    def _cache(self, quiet: bool) -> Callable[[], ScoreCache]:
        """What gives the cache that was asked for; or the user's, which steps aside where it cannot be written."""

        def tell(note: str) -> None:
            if not quiet:
                echo(f"note: {note}", err=True)

        @cache
        def opened() -> ScoreCache:
            path = default_path() if self.cache is None else Path(self.cache) / "scores.sqlite"
            return ScoreCache(path, optional=self.cache is None, tell=tell)

        return opened


@dataclass(frozen=True)
class Files:
    """Files that a verb writes its result to.

    `-` is standard output, which then holds nothing else; one option alone can have it, and `--json` at the end of a
    command prints. `--segments -` prints TSV, `-o -` of `perturb` and `synth` JSON lines; a model needs a file. A page
    is one file that loads nothing, follows the reader's preference for dark, and names files without their folders. The
    same command on the same files gives the same bytes.

    A file gets its name when all of it is written. Until then it has a hidden name that ends in `.part`; a run that
    ends early removes it, and one that was killed leaves it to the next run. What was there before stays. A place that
    cannot be written (no folder, no right, a read-only file, a full disk) and an output over an input are refused
    before anything is scored.
    """

    json: Annotated[str | None, Typed("Write the result as JSON; - prints it, here and below.", metavar="FILE")] = None
    html: Annotated[str | None, Typed("Write the result as one self-contained HTML page.", metavar="FILE")] = None
    segments: Annotated[
        str | None, Typed("Write one row per segment: .tsv, .csv, .jsonl (also .gz) or .parquet.", metavar="FILE")
    ] = None

    def check(self, *inputs: str | Sequence[str] | None, **more: str | None) -> None:
        """Refuse what could not be written, or would be written over; `more` are files of other options."""
        own = {"--json": self.json, "--html": self.html, "--segments": self.segments}
        if self.segments is not None:
            from nlgauge.io.write import kind_of

            kind_of(self.segments)
        if self.segments not in (None, STDOUT):
            from nlgauge.io.scores import SUFFIX

            own[f"--segments {self.segments} and"] = self.segments + SUFFIX
        check_outputs({**own, **{f"--{name.replace('_', '-')}": path for name, path in more.items()}}, *inputs)

    @property
    def printed(self) -> bool:
        """Whether one of them is standard output, on which nothing else may stand then."""
        return STDOUT in (self.json, self.html, self.segments)

    def write(self, result: Result, worst: Mapping[str, Any] | None = None, parts: Parts | None = None) -> None:
        """Write the requested JSON and HTML files, and the metadata file that goes with the segment rows."""
        if self.segments not in (None, STDOUT):
            from nlgauge.io.scores import write_beside

            write_beside(self.segments, result.metrics, parts)
        if self.json is not None:
            result.write(self.json, "json")
        if self.html is not None:
            from nlgauge.report.pages import page, write_page

            write_page(page(result, worst), self.html)

    def writing(self) -> AbstractContextManager[Callable[[Mapping[str, Any]], None] | None]:
        """A writer of segment rows; None if none were requested."""
        if self.segments is None:
            return nullcontext()
        from nlgauge.io.write import writing

        return writing(self.segments, spreadsheet=_for_spreadsheets())

    def write_segments(self, columns: Callable[[], Mapping[str, Any]]) -> None:
        """Write the rows of segments, where they are asked for."""
        with self.writing() as write:
            if write is not None:
                write(columns())


@dataclass(frozen=True)
class Shown:
    """How a result is shown.

    - `text`: tables, a line that says what signs mean, and at most three notes beside those that say that a number
      means nothing; `-v` prints all, with signatures, and `-q` the numbers and such notes alone.
    - `markdown`: tables, signatures, notes and the command. The best by each metric is bold, or all of the first rank;
      `‡` marks what a test does not tell apart from the best.
    - `latex`: one `table` per table (package booktabs); signatures, notes and the command are comments, also with `-q`.
      Intervals and the p-values of every two systems or metrics come with `-v`. With `-w N` scores on a scale to 1 have
      N + 2 decimals.
    - `tsv`, `csv`: all rows with every field and digit, and signature, direction, test, draws and seed as columns;
      notes go to standard error.
    - `json`: everything.

    A table that is wider than the terminal (160 columns in Markdown and LaTeX) has a row per metric, then becomes
    several. `↓` marks what is better when it is lower. Results go to standard output, errors and progress to standard
    error. An option that would change nothing is refused.
    """

    width: Annotated[
        int | None,
        Range(least=0, most=15),
        Typed("Decimals in tables.  [default: 3; score: 2 or 4]", ("--width", "-w")),
    ] = None
    form: Annotated[str, Typed("What is printed.", ("--format", "-f"), words=FORMS)] = "text"
    verbose: Annotated[
        bool,
        Typed(
            "Print every p-value and interval, what corpus numbers are made of, signatures, all notes, and the ids of"
            " texts that they count.",
            ("--verbose", "-v"),
        ),
    ] = False

    def check(self, **of_tables: object) -> None:
        """Refuse an unknown form, and options about tables where none is shown, before anything is scored.

        Args:
            of_tables: option of the verb -> its value, which is false where it was not typed.
        """
        check_form(self.form)
        if self.form in DATA:
            told = {"width": self.width is not None, **of_tables}
            refuse_idle(told, f"is about tables, and -f {self.form} holds every row and digit")

    def put_out(self, result: Result, files: Files, quiet: bool, **how: Any) -> int:
        """Write the files that were asked for, and print the result unless one of them is printed; the code is 0."""
        files.write(result)
        if not files.printed:
            self.show(result, quiet, **how)
        return 0

    def show(self, result: Result, quiet: bool, **how: Any) -> None:
        """Print the result; `how` are further arguments of `render`."""
        if self.form in CELLS:  # a table has no place for them
            for note in doubt_line(result) if quiet else result.notes:
                echo(f"note: {note}", err=True)
        columns = shutil.get_terminal_size((WIDE, 24)).columns
        how |= {"spreadsheet": _for_spreadsheets(), "brief": not self.verbose, "full": self.verbose}
        echo(render(result, self.form, self.width, quiet=quiet, columns=columns, **how))


def _for_spreadsheets() -> bool:
    return os.environ.get("NLGAUGE_SPREADSHEET") == "1"


# --- Progress on a terminal: bars that stand below each other on stderr, and leave nothing behind


class Bars:
    """Called as `bars(total, label)`, as often as wanted at one time; see `Runtime.progress`."""

    def __init__(self) -> None:
        self._display: Any = None
        self._open = 0
        self._lock = threading.Lock()

    @contextmanager
    def __call__(self, total: int, label: str) -> Iterator[Advance]:
        """A bar with its count, its rate and the time left."""
        with self._lock:
            if not self._open:
                self._display = _display()
                self._display.start()
            self._open += 1
            display = self._display
        task = display.add_task(visible(label), total=total)
        try:
            yield lambda count: display.advance(task, count)
        finally:
            with self._lock:
                self._open -= 1
                display.remove_task(task)
                if not self._open:
                    display.stop()


def _display() -> Any:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Rate(ProgressColumn):
        """How many a second."""

        def render(self, task: Any) -> Text:
            """The rate of the last half minute; nothing before there is one."""
            return Text("" if not task.speed else f"{task.speed:,.{1 if task.speed < 10 else 0}f}/s")

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        Rate(),
        TimeRemainingColumn(compact=True),
        console=Console(stderr=True),
        transient=True,
    )


bar = Bars()


@contextmanager
def each_minute(total: int, label: str) -> Iterator[Advance]:
    """A line a minute where there is no terminal, as in the log of a job."""
    began = last = time.monotonic()
    done = 0.0

    def advance(count: float) -> None:
        nonlocal done, last
        done, now = done + count, time.monotonic()
        if now - last >= _MINUTE:
            last = now
            echo(f"{label}: {done:,.0f} of {total:,} after {(now - began) / _MINUTE:.0f} min", err=True)

    yield advance
