"""Progress on a terminal: bars that stand below each other on stderr, and leave nothing behind."""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import os
import re
import shutil
import sys
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import wraps
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer
from typer.models import ParameterInfo

from nlgauge.cli.main import echo
from nlgauge.core.errors import InputError, SpecError, nearest
from nlgauge.core.options import Entry, OneOf, Range, Typed, check_option
from nlgauge.core.options import refuse_idle as refuse_idle_options
from nlgauge.core.result import STDOUT, Result, check_target
from nlgauge.core.scores import MetricInfo
from nlgauge.core.spec import Spec, parse, split
from nlgauge.io.files import STDIN, limited, parse_limits
from nlgauge.metrics.function import predicts
from nlgauge.metrics.registry import EMBEDDED, METRICS, OWN, SUMS, not_included, own_function
from nlgauge.metrics.wrapped import GUARDED
from nlgauge.report.labels import visible
from nlgauge.report.tables import CELLS, DATA, FORMS, WIDE
from nlgauge.report.text import check_form, doubt_line, render
from nlgauge.runtime.cache import ScoreCache, default_path
from nlgauge.runtime.runtime import DTYPES, ENCODERS, Advance, Runtime, encoder_of, has_gpu, silent


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


# --- Metrics from `-m`: specifications, lists of them with commas, and the user's own functions and classes

_ALIKE = 0.75  # of difflib; as alike as a name and the same with a letter missing


def option(*flags: str, **about: Any) -> Any:
    """An option that takes specifications of metrics: their names are completed, and lists are taken apart."""
    return typer.Option(*flags, metavar="SPEC", callback=typed, autocompletion=complete, **about)


def typed(context: typer.Context, values: list[str] | None) -> list[str] | None:
    """Specifications as they are typed: `bleu,chrf` are two; `module:name` is imported and gets its own name."""
    if not values or context.resilient_parsing:  # completion must not run anybody's code
        return values
    return [_known(spec) for value in values for spec in split(value)]


def complete(incomplete: str) -> list[str]:
    """Names of metrics that begin so."""
    return [name for name in (*METRICS.names(), *SUMS, EMBEDDED) if name.startswith(incomplete)]


def names_metric(word: str) -> bool:
    """Whether a word that follows `-m SPEC` is meant as a further one: its name is known, or a slip away from it.

    A metric that lacks an option is one, and so is a sum, and a function of the user's with its module.
    """
    try:
        parsed = [None if OWN.fullmatch(spec) else parse(spec) for spec in split(word)]
    except SpecError:
        return False
    known = [name.lower() for name in (*METRICS.names(), *SUMS, EMBEDDED, GUARDED)]
    for spec in parsed:
        name = spec.name.lower() if isinstance(spec, Spec) else ""
        slip = "." not in name and difflib.get_close_matches(name, known, 1, _ALIKE)
        if isinstance(spec, Spec) and not (name in known or slip or not_included(name)):
            return False
    return True


def with_options(specs: Sequence[str], name: str, options: dict[str, tuple[str, str]]) -> list[str]:
    """Specifications in which each metric of a name has further options.

    Args:
        specs: specifications.
        name: the name of the metric, such as "bleu".
        options: option -> the flag that was typed for it, and its value.

    Raises:
        InputError: no metric has the name, or it has another value for the option already.
    """
    made, found = [], False
    for spec in specs:
        parsed = parse(spec)
        if not isinstance(parsed, Spec) or parsed.name.lower() != name:
            made.append(spec)
            continue
        found, own = True, dict(parsed.options)
        for key, (flag, value) in options.items():
            if own.setdefault(key, value) != value:
                raise InputError(f"{spec} and {flag} give two values for {key}; leave one of them out")
        made.append(str(Spec(parsed.name, tuple(own.items()))))
    if not found:
        flag, value = next(iter(options.values()))
        key = next(iter(options))
        raise InputError(f"{flag} is an option of {name}, which is not among the metrics; write METRIC:{key}={value}")
    return made


def _known(spec: str) -> str:
    """A specification whose name is known: that in the `info` of a class, or that of a function."""
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


def _imported(module: str, name: str) -> Any:
    """The class or function, from an installed module or from one in the current folder.

    Raises:
        SpecError: there is no such module.
        InputError: the module fails, it has no such name, or that is no metric.
    """
    target = f"{module}:{name}"
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # behind all others, so that no file of the folder hides a library
    try:
        cls = getattr(import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name is not None and module != error.name and not module.startswith(f"{error.name}."):
            raise InputError(f"{target} cannot be imported: it needs the module {error.name!r}") from None
        slip = difflib.get_close_matches(module, METRICS.names(), 1, _ALIKE)
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


# --- Options that several verbs take, each written once, and the decorator that gives them to a verb

R = TypeVar("R")
G = TypeVar("G", bound=Any)
Parts = Mapping[str, Mapping[str, bool | None]]  # specification -> part -> whether higher is better
_DEVICE = re.compile(r"(auto|cpu|cuda|mps|xpu|hpu|npu)(:[0-9]+)?")

Json = Annotated[
    str | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON; - prints it, here and below.")
]
Html = Annotated[
    str | None, typer.Option("--html", metavar="FILE", help="Write the result as one self-contained HTML page.")
]
Segments = Annotated[
    str | None,
    typer.Option(
        "--segments", metavar="FILE", help="Write one row per segment: .tsv, .csv, .jsonl (also .gz) or .parquet."
    ),
]


def choice(*flags: str, among: str | Iterable[str], metavar: str | None = None, **about: Any) -> Any:
    """An option with a fixed choice, which the help shows and the shell completes; the library refuses other words.

    Args:
        flags: names of the option.
        among: what it takes, with blanks between the words.
        metavar: what the help shows in place of all words.
        about: as for `typer.Option`.
    """
    words = among.split() if isinstance(among, str) else list(among)

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return typer.Option(*flags, metavar=metavar or "|".join(words), autocompletion=complete, **about)


Width = Annotated[
    int | None,
    typer.Option("--width", "-w", min=0, max=15, help="Decimals in tables.  [default: 3; score: 2 or 4]"),
]
Spreadsheet = Annotated[
    bool,
    typer.Option("--spreadsheet", help="In CSV and TSV, put ' before cells that a spreadsheet takes for formulas."),
]
Verbose = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Print every p-value, signatures, all notes, and the ids of texts that they count."
    ),
]
LanguagePairs = Annotated[
    list[str] | None,
    typer.Option("--lp", metavar="NAME", help="Take this language pair (or task) alone; repeat for several."),
]
Form = Annotated[str, choice("--format", "-f", among=FORMS, help="What is printed.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Seed of everything drawn at random.  [default: 0]")]
Device = Annotated[
    str, choice("--device", among="auto cpu cuda mps", metavar="auto|cpu|cuda|cuda:N|mps", help="Where models run.")
]
DType = Annotated[
    str,
    choice("--dtype", among=("auto", *DTYPES), help="Precision of models. Part of the signature."),
]
Encoder = Annotated[
    str | None,
    choice("--encoder", among=ENCODERS, help="The encoder of metrics that name no model.  [default: embedded]"),
]
Compile = Annotated[
    bool, typer.Option("--compile", help="On a GPU: compile encoders of BERT's family, which takes a while at first.")
]
CacheFolder = Annotated[
    str | None,
    typer.Option("--cache", metavar="DIR", help="Folder of the score cache.  [default: the user's cache folder]"),
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Neither read nor keep scores.")]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Only numbers, what their signs mean, which of them mean nothing, and errors; LaTeX keeps signatures.",
    ),
]


Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns",
        metavar="FIELD=NAME,...",
        help="Fields of DATA with other names: hyp=prediction,ref=references.",
    ),
]


def columns_of(typed: Sequence[str] | None) -> dict[str, str] | None:
    """Field -> its name in the data, of `--columns`; None where it was not given.

    Where several names are `hyp`, each of which is a system, it is name -> field.

    Raises:
        InputError: it is no list of FIELD=NAME, or another field is named twice.
    """
    if not typed:
        return None
    named: dict[str, str] = {}
    systems: list[str] = []
    for pair in (pair for listed in typed for pair in listed.split(",")):
        field, equals, name = (part.strip() for part in pair.partition("="))
        if not (field and equals and name):
            raise InputError(f"--columns {pair!r}: expected FIELD=NAME, as in hyp=prediction,ref=references")
        if field == "hyp":
            systems.append(name)
        elif field in named:
            several = "; several references are ref1, ref2, ..." if field.startswith("ref") else ""
            raise InputError(f"--columns names {field!r} twice, expected once{several}")
        named[field] = name
    if len(systems) < 2:
        return named
    return {name: field for field, name in named.items() if field != "hyp"} | dict.fromkeys(systems, "hyp")


LimitSizes = Annotated[
    list[str] | None,
    typer.Option(
        "--limits",
        metavar="NAME=SIZE,...",
        help="Largest inputs, from: segment line file ratio array columns depth. Example: segment=20M,line=1G.",
    ),
]


@dataclass(frozen=True)
class Common:
    """How a verb works: what makes its draws, where models run, and what is kept and shown meanwhile."""

    typed_seed: Seed = None
    device: Device = "auto"
    dtype: DType = "float32"
    cache: CacheFolder = None
    no_cache: NoCache = False
    quiet: Quiet = False
    limits: LimitSizes = None
    compile: Compile = False
    encoder: Encoder = None

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

        Raises:
            InputError: a cache, and none; or what is only for GPUs, on a CPU.
        """
        if self.cache is not None and self.no_cache:
            raise InputError("--cache and --no-cache are both given; choose one")
        if not _DEVICE.fullmatch(self.device):
            raise InputError(f"--device is {self.device!r}, expected auto, cpu, cuda, cuda:N or mps")
        if self.compile and self.device == "cpu":
            raise InputError("--compile is for GPUs, and a CPU has kernels of its own; leave it out")
        if self.compile and self.device == "auto" and not (self.quiet or has_gpu()):
            echo("note: --compile changes nothing here: there is no GPU, and a CPU has kernels of its own", err=True)
        return Runtime(
            device=self.device,
            dtype=self.dtype,
            seed=self.seed if seed is None else seed,
            cache=self._cache(quiet or self.quiet) if cached and not self.no_cache else None,
            progress=silent if quiet or self.quiet or not sys.stderr.isatty() else bar,
            compile=self.compile,
            encoder=self.encoder,
        )

    def _cache(self, quiet: bool) -> ScoreCache:
        """The cache that was asked for; or the user's, which steps aside where it cannot be written."""

        def tell(note: str) -> None:
            if not quiet:
                echo(f"note: {note}", err=True)

        path = default_path() if self.cache is None else Path(self.cache) / "scores.sqlite"
        return ScoreCache(path, optional=self.cache is None, tell=tell)


@dataclass(frozen=True)
class Files:
    """Files that a verb writes its result to."""

    json: Json = None
    html: Html = None
    segments: Segments = None

    def check(self, inputs: Sequence[str], **more: str | None) -> None:
        """Refuse what could not be written, or would be written over; `more` are files of other options."""
        own = {"--json": self.json, "--html": self.html, "--segments": self.segments}
        if self.segments is not None:
            from nlgauge.io.write import kind_of

            kind_of(self.segments)
        if self.segments not in (None, STDOUT):
            from nlgauge.io.scores import SUFFIX

            own[f"--segments {self.segments} and"] = self.segments + SUFFIX
        check_outputs({**own, **{f"--{name.replace('_', '-')}": path for name, path in more.items()}}, inputs)

    @property
    def are_cells(self) -> bool:
        """Whether rows of segments are written as CSV or TSV."""
        from nlgauge.io.write import is_cells

        return is_cells(self.segments)

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
            from nlgauge.report.pages import write_html

            write_html(result, self.html, worst)

    def writing(self, spreadsheet: bool) -> AbstractContextManager[Callable[[Mapping[str, Any]], None] | None]:
        """A writer of segment rows; None if none were requested."""
        if self.segments is None:
            return nullcontext()
        from nlgauge.io.write import writing

        return writing(self.segments, spreadsheet=spreadsheet)

    def write_segments(self, columns: Callable[[], Mapping[str, Any]], spreadsheet: bool = False) -> None:
        """Write the rows of segments, where they are asked for."""
        with self.writing(spreadsheet) as write:
            if write is not None:
                write(columns())


@dataclass(frozen=True)
class Shown:
    """How a result is shown."""

    width: Width = None
    form: Form = "text"
    spreadsheet: Spreadsheet = False
    verbose: Verbose = False

    def check(self, files: Files | None = None, **of_tables: object) -> None:
        """Refuse an unknown form, and options about tables where none is shown, before anything is scored.

        Args:
            files: what is written besides.
            of_tables: option of the verb -> its value, which is false where it was not typed.
        """
        check_form(self.form)
        if self.spreadsheet and self.form not in CELLS and not (files and files.are_cells):
            raise InputError("--spreadsheet is about CSV and TSV: -f csv or tsv, or --segments FILE.csv")
        if self.form in DATA:
            told = {"width": self.width is not None, **of_tables}
            refuse_idle(told, f"is about tables, and -f {self.form} holds every row and digit")

    def show(self, result: Result, quiet: bool, **how: Any) -> None:
        """Print the result; `how` are further arguments of `render`."""
        if self.form in CELLS:  # a table has no place for them
            for note in doubt_line(result) if quiet else result.notes:
                echo(f"note: {note}", err=True)
        columns = shutil.get_terminal_size((WIDE, 24)).columns
        how |= {"spreadsheet": self.spreadsheet, "brief": not self.verbose}
        echo(render(result, self.form, self.width, quiet=quiet, columns=columns, **how))


def refuse_idle(options: Mapping[str, object], why: str) -> None:
    """Refuse the first option that was typed and would change nothing.

    Args:
        options: name of an option -> its value, false where it was not typed.
        why: the reason, which follows the name of the option.
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
    own = {field.name for field in fields(group)}
    return replace(group, **{name: value for name, value in values.items() if name in own})


def flags_of(group: Any) -> dict[str, str]:
    """Field of a group of options -> its name on the command line, without dashes."""
    return {name: field.flag.removeprefix("--") for name, field in _fields_of(type(group)).items()}


def changed(group: Any, *names: str, usual: Any = None) -> dict[str, bool]:
    """Option, as in `flags_of` -> whether its value is another than its default, of some fields of a group of options.

    Args:
        group: the group.
        names: the fields.
        usual: a group with the defaults, where the verb has others than its fields.
    """
    defaults = {field.name: getattr(usual, field.name, field.default) for field in fields(group)}
    flags = flags_of(group)
    return {flags[name]: getattr(group, name) != defaults[name] for name in names}


def common(
    without: Collection[str] = (),
    defaults: Mapping[str, Any] = MappingProxyType({}),
    sections: Mapping[str, str] = MappingProxyType({}),
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Let a verb take groups of options: a parameter whose type is a dataclass stands for all fields of it.

    The verb below has the options of `Common` on the command line, and those of `Files` without `--segments`:

        @options.common(without={"segments"})
        def align(hyp: Hyp, files: options.Files, common: options.Common) -> None:
            runtime = common.runtime()

    A dataclass of the library stands for its fields that are `Typed`; what `GoesWith` another option is refused alone.

    Args:
        without: fields that are no options of this verb; they keep their defaults.
        defaults: field -> its default for this verb, where it is another than that of the group.
        sections: a heading of the help -> names of parameters of the verb, with blanks between; none for one list.
    """
    heads = {name: head for head, names in sections.items() for name in names.split()}

    def given(verb: Callable[..., R]) -> Callable[..., R]:
        groups: dict[str, dict[str, _Field]] = {}
        options: list[inspect.Parameter] = []
        kinds = get_type_hints(verb, include_extras=True)
        for parameter in inspect.signature(verb).parameters.values():
            kind = kinds[parameter.name]
            if isinstance(kind, type) and is_dataclass(kind):
                groups[parameter.name] = {
                    name: f.defaulting_to(defaults[name]) if name in defaults else f
                    for name, f in _fields_of(kind).items()
                    if name not in without
                }
                options += [field.parameter for field in groups[parameter.name].values()]
            else:
                options.append(
                    parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=_as_typed(parameter.name, kind))
                )

        @wraps(verb)
        def called(**typed: Any) -> R:
            made = {
                name: _made(kinds[name], own, {option: typed.pop(option) for option in own})
                for name, own in groups.items()
            }
            sizes = next((group.limits for group in made.values() if isinstance(group, Common)), None)
            with limited(parse_limits(sizes or ())):
                return verb(**typed, **made)

        called.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
        called.__annotations__ = {option.name: option.annotation for option in options}
        called.sections = {  # type: ignore[attr-defined]
            option: head for name, head in heads.items() for option in groups.get(name, (name,))
        }
        return called

    return given


@dataclass(frozen=True)
class _Field:
    """A field of a group as an option.

    Attributes:
        parameter: the option, as typer reads it.
        flag: its name in an error.
        kind: the type that its value is held to; None where the library checks it.
    """

    parameter: inspect.Parameter
    flag: str
    kind: Any = None

    def defaulting_to(self, default: Any) -> _Field:
        """The same with another default."""
        return replace(self, parameter=self.parameter.replace(default=default))


def _fields_of(group: type) -> dict[str, _Field]:
    """The fields of a dataclass that are options: those with words of typer, and those that are `Typed`."""
    kinds = get_type_hints(group, include_extras=True)
    found: dict[str, _Field] = {}
    for field in fields(group):
        kind, default = kinds[field.name], inspect.Parameter.empty if field.default is MISSING else field.default
        about = getattr(kind, "__metadata__", ())
        flag = f"--{field.name.replace('_', '-')}"
        as_typed = next((one for one in about if isinstance(one, Typed)), None)
        if as_typed is not None:
            flag = as_typed.flags[0] if as_typed.flags else flag
            default = ",".join(map(str, default)) if isinstance(default, tuple) else default
            annotation = _annotation(kind, as_typed, flag)
        elif any(isinstance(one, ParameterInfo) for one in about):
            annotation, flag = kind, _flag(next(one for one in about if isinstance(one, ParameterInfo)), flag)
        else:
            continue  # set in Python alone
        parameter = inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation
        )
        found[field.name] = _Field(parameter, flag, None if as_typed is None else kind)
    return found


def _flag(option: ParameterInfo, otherwise: str) -> str:
    """The first long name of an option, which typer keeps where others have their default."""
    names = [name for name in (option.default, *(option.param_decls or ())) if isinstance(name, str)]
    return next((name.partition("/")[0] for name in names if name.startswith("--")), otherwise)


def _annotation(kind: Any, as_typed: Typed, flag: str) -> Any:
    """The type of a `Typed` field for typer: a text where the library has a choice, or several with commas."""
    plain, *about = get_args(kind)
    flags, more = as_typed.flags or (flag,), {"help": as_typed.help, "metavar": as_typed.metavar}
    sorts = (plain, *get_args(plain))
    words = [word for sort in sorts if get_origin(sort) is Literal for word in get_args(sort)]
    words += [word for one in about if isinstance(one, OneOf) for word in one.choices]
    among = as_typed.words or words
    if among or get_origin(plain) is tuple:
        text = str | None if type(None) in sorts else str
        kind = plain if any(get_origin(sort) is list for sort in sorts) else text  # a list is typed word by word
        return Annotated[kind, choice(*flags, among=among, **more) if among else _option(flags, more)]
    bounds = next((one for one in about if isinstance(one, Range)), Range())
    return Annotated[plain, _option(flags, {**more, "min": bounds.least, "max": bounds.most})]


def _as_typed(name: str, kind: Any) -> Any:
    """The type of a parameter of a verb for typer, where it is `Typed`."""
    about = next((one for one in getattr(kind, "__metadata__", ()) if isinstance(one, Typed)), None)
    return kind if about is None else _annotation(kind, about, f"--{name.replace('_', '-')}")


def _option(flags: Sequence[str], about: Mapping[str, Any]) -> Any:
    return typer.Option(*flags, **about)


def _made(group: type[G], own: Mapping[str, _Field], typed: Mapping[str, Any]) -> G:
    """A group of options of what was typed; an error calls each option by its flag.

    Raises:
        InputError: a value does not fit its type, or an option would change nothing.
    """
    values = dict(typed)
    for name, field in own.items():
        if field.kind is not None:
            plain = get_args(field.kind)[0]
            if get_origin(plain) is tuple:
                values[name] = _several(field.flag, values[name], plain)
            else:
                check_option(field.flag, values[name], field.kind, error=InputError)
    made: G = group(**values)
    refuse_idle_options(made, spelt=lambda name: own[name].flag if name in own else name)
    return made


def _several(flag: str, typed: str, kind: Any) -> tuple[Any, ...]:
    """What stands between commas: words, or whole numbers where the type says so."""
    words = [word.strip() for word in typed.split(",") if word.strip()]
    of_numbers = get_origin(get_args(kind)[0]) is Annotated and get_args(get_args(kind)[0])[0] is int
    if of_numbers and not all(word.isdigit() for word in words):
        raise InputError(f"{flag} is {typed!r}, expected whole numbers with commas")
    return tuple(map(int, words)) if of_numbers else tuple(words)


def check_outputs(outputs: Mapping[str, str | None], inputs: Sequence[str]) -> None:
    """Refuse before anything is scored what cannot be read twice, or written, or would be written over."""
    times = sum(path == STDIN for path in inputs)
    if times > 1:
        raise InputError(f"'-' (standard input) is given {times} times, expected once; name files for the others")
    named = [path for path in inputs if path != STDOUT and "\0" not in path]  # - is read there, NUL is refused there
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
