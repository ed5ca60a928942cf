"""Bars on a terminal."""

import inspect
import io
import sys
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Annotated, Literal, get_args, get_type_hints

import pytest
import typer

from nlgauge.audits import preference
from nlgauge.cli import audit, options, synth
from nlgauge.cli.main import INNER, TRAIN, VERBS, main
from nlgauge.cli.options import Bars, columns_of
from nlgauge.core import suite
from nlgauge.core.errors import InputError, SpecError
from nlgauge.core.options import Argument, GoesWith, Range, Typed, checked, fields_of
from nlgauge.core.result import Result
from nlgauge.metrics.registry import METRICS, metric, own_names
from nlgauge.perturbations import paraphrase, severity
from nlgauge.report import text
from nlgauge.runtime import runtime
from nlgauge.runtime.cache import default_path
from nlgauge.runtime.runtime import silent
from nlgauge.stats import preferences


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_two_bars_stand_at_one_time_and_leave_nothing_on_standard_output(monkeypatch, capsys):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    stderr = Terminal()
    monkeypatch.setattr("sys.stderr", stderr)
    bars = Bars()
    with bars(2000, "0.5*bleu + 0.5*chrf[norm=none]") as one, bars(10, "chrf") as other:
        one(1234.4)
        other(10)
        bars._display.refresh()
    assert capsys.readouterr().out == ""
    shown = stderr.getvalue()
    assert "0.5*bleu + 0.5*chrf[norm=none]" in shown  # no markup of rich
    assert "1,234 of 2,000" in shown
    assert "10 of 10" in shown
    with bars(1, "again"):
        pass


def test_a_display_is_there_while_a_bar_is_open():
    bars = Bars()
    with bars(1, "one"), bars(1, "two"):
        display = bars._display
        assert len(display.tasks) == 2
    assert display.tasks == []
    assert not display.live.is_started


# --- What stands behind -m: lists with commas, options from other flags, and functions and classes of one's own

OWN = '''
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
import nlgauge as ng
from nlgauge.core import ids, signature_of


@dataclass(frozen=True, kw_only=True)
class Words:
    """The number of words."""

    least: int = 0
    info: ClassVar = ng.MetricInfo("words-of-mine", needs=set(), range=(0.0, 1e9))

    def score(self, segments, runtime):
        values = np.array([max(len(s.hypothesis.split()), self.least) for s in segments], dtype=float)
        return ng.Scores(signature_of(self, runtime), ids(segments), values)


@dataclass(frozen=True)
class Bleu(Words):
    info: ClassVar = ng.MetricInfo("bleu")


def nothing():
    pass


def chrf(hypothesis):
    return 1


def count(hypothesis, references):
    return len(hypothesis.split())


NUMBER = 1
'''


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "broken.py").write_text("x = 1 / 0\n")
    (tmp_path / "leaving.py").write_text("import sys\n\nsys.exit(0)\n")
    (tmp_path / "needy.py").write_text("import nothing_of_that_name\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(METRICS, "entries", dict(METRICS.entries))
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for module in ("mine", "broken", "leaving", "needy"):
        sys.modules.pop(module, None)


def typed(*values):
    return [spec for value in values for spec in options.known_specs(value)]


def test_a_list_with_commas_is_several_metrics():
    assert typed("bleu,chrf:beta=1,word_order=2", "ter") == ["bleu", "chrf:beta=1,word_order=2", "ter"]


def test_a_class_of_ones_own_is_known_by_its_name(folder):
    assert typed("mine:Words", "0.5*words-of-mine + 0.5*bleu") == ["words-of-mine", "0.5*words-of-mine + 0.5*bleu"]
    assert typed("mine:Words:least=3") == ["words-of-mine:least=3"]
    assert metric("words-of-mine:least=3").least == 3


def test_a_function_is_known_by_its_name(folder):
    assert typed("mine:count", "0.5*count + 0.5*bleu", "mine:count:higher_is_better=false") == [
        "count",
        "0.5*count + 0.5*bleu",
        "count:higher_is_better=false",
    ]
    assert metric("count").info.needs == {"references"}
    assert str(metric("count").function) == "mine:count"
    assert own_names() == ["count"]


def test_no_file_of_the_folder_hides_a_library(folder):
    typed("mine:Words")
    assert sys.path[-1] == str(folder)


@pytest.mark.parametrize(
    "spec", ["bleu", "bleu:lowercase=true", "0.5*bleu + 0.5*chrf", "bleu:lowercase", "BLEU:lowercase"]
)
def test_nothing_is_imported_for_a_name_that_is_known_or_has_no_class(folder, spec):
    before = list(sys.path)
    assert typed(spec) == [spec]
    assert sys.path == before


@pytest.mark.parametrize(
    ("spec", "error", "said"),
    [
        ("blue:lowercase", SpecError, r"unknown metric 'blue:lowercase': no module 'blue' .*; did you mean 'bleu'"),
        ("nowhere:count", SpecError, r"no module 'nowhere' is installed or in .* folder; put nowhere.py there"),
        ("mine:x", InputError, r"mine:x: the module has no 'x'; known: Bleu, ClassVar"),
        ("mine:Wrods", InputError, r"mine:Wrods: the module has no 'Wrods'; did you mean 'Words'"),
        ("mine:NUMBER", InputError, r"mine:NUMBER is no metric, expected def NUMBER\(hypothesis, references\), or a"),
        ("mine:nothing", SpecError, r"mine:nothing has no argument 'hypothesis'"),
        ("mine:chrf", SpecError, r"mine:chrf: another metric is called 'chrf'; give the function another name"),
        ("mine:Bleu", InputError, r"mine:Bleu calls itself 'bleu', as another metric does"),
        ("broken:Words", InputError, r"broken:Words cannot be imported: ZeroDivisionError: division by zero"),
        ("leaving:Words", InputError, r"leaving:Words cannot be imported: SystemExit: 0"),
        ("needy:Words", InputError, r"needy:Words cannot be imported: it needs the module 'nothing_of_that_name'"),
    ],
)
def test_what_cannot_be_a_metric_is_refused_in_a_line(folder, spec, error, said):
    with pytest.raises(error, match=said) as refused:
        typed(spec)
    assert "\n" not in str(refused.value)


def test_other_processes_do_not_know_a_function_and_say_so_before_anything_is_read(folder, capsys):
    (folder / "d.jsonl").write_text('{"hyp": "a", "ref": "b"}\n')
    command = ["score", "d.jsonl", "-m", "mine:count", "-m", "0.5*count + 0.5*chrf", "--engine", "pool", "-o", "run"]
    assert main(command) == 2
    assert capsys.readouterr().err.startswith("nlgauge: count: 'count' is known in this process alone, and --engine")
    assert main(["score", "d.jsonl", "-m", "Mine=chrf:beta=1", *command[-4:]]) == 2
    assert "starts others; give the metric itself, or leave" in capsys.readouterr().err
    assert not (folder / "run").exists()


def made(quiet=True, **others):
    return options.Common(**{"device": "cpu", "typed_seed": 3, "quiet": quiet, **others}).runtime()


def test_the_runtime_is_what_the_options_say():
    runtime = made(dtype="bfloat16")
    assert (runtime.device, runtime.dtype, runtime.seed) == ("cpu", "bfloat16", 3)


@dataclass(frozen=True)
class Flagged:
    plain: Annotated[int, Typed("One.")] = 1
    rate: Annotated[float, Typed("Rate.", ("--learning-rate", "-r"))] = 0.5
    words: Annotated[str, Typed("Words.", ("--word",), words="a b")] = "a"
    hidden: int = 0


def test_an_option_goes_by_the_flag_that_is_typed():
    flags = {"plain": "plain", "rate": "learning-rate", "words": "word"}
    assert options.flags_of(Flagged()) == flags
    assert options.changed(Flagged(rate=0.6), "plain", "rate") == {"plain": False, "learning-rate": True}
    with pytest.raises(InputError, match=r"^--learning-rate goes nowhere$"):
        options.refuse_idle(options.changed(Flagged(rate=0.6), *flags), "goes nowhere")


def test_what_a_verb_has_as_its_default_was_not_typed():
    usual = Flagged(rate=0.6, plain=2)
    assert options.changed(Flagged(rate=0.6), "rate", "plain", usual=usual) == {"learning-rate": False, "plain": True}


def test_scores_are_kept_in_the_users_folder_unless_told_otherwise(monkeypatch, tmp_path):
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path))
    assert made().cache().path == default_path() == tmp_path / "scores.sqlite"
    assert made(cache="folder").cache().path == Path("folder/scores.sqlite")
    assert made(no_cache=True).cache is None
    assert options.Common().runtime(cached=False).cache is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("quiet", [False, True])
def test_the_users_cache_steps_aside_with_a_note_and_one_that_is_asked_for_is_refused(
    monkeypatch, tmp_path, capsys, quiet
):
    (tmp_path / "file").write_text("")  # where a folder should be: not even root can write there
    monkeypatch.setenv("NLGAUGE_CACHE", str(tmp_path / "file"))
    assert made(quiet=quiet).cache().columns("s") is None
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("" if quiet else "note: score cache ")
    assert err.count("\n") == (not quiet)
    with pytest.raises(InputError, match=r"^score cache .* cannot be used \(.*\); delete it"):
        made(cache=str(tmp_path / "file")).cache().columns("s")


def test_a_verb_may_have_a_seed_of_its_own():
    assert options.Common(typed_seed=3, no_cache=True).runtime(seed=5).seed == 5


def test_a_cache_and_none_are_not_both():
    with pytest.raises(InputError, match=r"^--cache and --no-cache are both given; choose one$"):
        made(cache="folder", no_cache=True)


@pytest.mark.parametrize(
    ("stream", "quiet", "shown"),
    [(Terminal, False, options.bar), (Terminal, True, silent), (io.StringIO, False, options.each_minute)],
)
def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere(monkeypatch, stream, quiet, shown):
    monkeypatch.setattr("sys.stderr", stream())
    assert made(no_cache=True, quiet=quiet).progress is shown


def test_a_line_a_minute_says_how_far_a_job_is(monkeypatch, capsys):
    times = iter([0, 30, 61, 90, 200])
    monkeypatch.setattr(options.time, "monotonic", lambda: next(times))
    with options.each_minute(4000, "nli") as advance:
        for _ in range(4):
            advance(1000)
    assert capsys.readouterr() == ("", "nli: 2,000 of 4,000 after 1 min\nnli: 4,000 of 4,000 after 3 min\n")


def test_a_bar_counts_on_stderr_and_leaves_stdout_alone(capsys):
    with options.bar(10, "scoring") as advance:
        advance(4)
        advance(6)
    assert capsys.readouterr().out == ""


@dataclass(frozen=True)
class Colours:
    """Two options."""

    red: Annotated[int, Typed("Red.")] = 1
    blue: Annotated[str | None, Typed("Blue.")] = None


def painted(**without):
    called = []

    @options.verb(**without)
    def paint(*, wall: Annotated[str, Argument("Which.")], colours: Colours, dry: bool = False) -> int:
        """Paint a wall."""
        called.append((wall, colours, dry))
        return 0

    app = typer.Typer()
    app.command()(paint)
    return typer.main.get_command(app), called, paint


def test_a_group_of_options_stands_for_its_fields():
    command, called, paint = painted()
    command.main(args=["north", "--red", "3", "--dry"], standalone_mode=False)
    assert called == [("north", Colours(red=3), True)]
    assert list(inspect.signature(paint).parameters) == ["wall", "red", "blue", "dry"]
    assert paint.__doc__ == "Paint a wall."


def test_an_option_that_a_verb_goes_without_keeps_its_default(capsys):
    command, called, paint = painted(without={"blue"})
    command.main(args=["north"], standalone_mode=False)
    assert called == [("north", Colours(), False)]
    assert "blue" not in inspect.signature(paint).parameters


@dataclass(frozen=True)
class Mixing:
    """Options of the library, which say themselves how they are typed."""

    pigments: Annotated[tuple[Literal["red", "blue"], ...], Typed("Which.")] = ("red", "blue")
    gloss: Annotated[Literal["matt", "high"] | None, Typed("How it shines.", ("--shine", "-s"))] = None
    coats: Annotated[int, Range(least=1, most=9), GoesWith(("gloss",), "is about gloss"), Typed("How many.")] = 2
    thinner: float = 0.0

    def __post_init__(self):
        checked(self, name="", error=InputError)


def mixed(*args):
    called = []

    @options.verb()
    def mix(*, mixing: Mixing) -> int:
        called.append(mixing)
        return 0

    app = typer.Typer(add_completion=False)
    app.command()(mix)
    command = typer.main.get_command(app)
    command.main(args=list(args), standalone_mode=False)
    return called[0], command


def test_a_dataclass_of_the_library_says_how_its_options_are_typed():
    assert mixed()[0] == Mixing()
    found, command = mixed("--pigments", "blue, red", "-s", "high", "--coats", "9")
    assert found == Mixing(("blue", "red"), "high", 9)
    assert [param.opts for param in command.params if param.name != "help"] == [
        ["--pigments"], ["--shine", "-s"], ["--coats"]
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (["--shine", "low"], "--shine is 'low'; known: high, matt"),
        (["--coats", "3"], "--coats is about gloss; it goes with --shine"),
        (["--pigments", "green"], "pigments is"),
    ],
)
def test_what_the_library_refuses_is_refused_by_the_flag(typed, message):
    with pytest.raises(InputError, match=message):
        mixed(*typed)


def test_files_are_written_where_they_are_asked_for(tmp_path):
    result = Result("score", [])
    files = options.Files(json=str(tmp_path / "r.json"), segments=str(tmp_path / "s.tsv"))
    files.check()
    files.write(result)
    files.write_segments(lambda: {"id": ["1"]})
    options.Files().write(result)
    options.Files().write_segments(lambda: pytest.fail("nobody asked"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["r.json", "s.tsv"]


def test_two_files_of_one_name_are_refused(tmp_path):
    path = str(tmp_path / "x")
    with pytest.raises(InputError, match=r"--save-norm .* would be written over --json"):
        options.Files(json=path).check(save_norm=path)
    with pytest.raises(InputError, match=r"--json .* would be written over the input"):
        options.Files(json=path).check(path)


def test_standard_input_is_read_for_one_file():
    with pytest.raises(InputError, match=r"^'-' \(standard input\) is given 2 times, expected once"):
        options.Files().check("-", ["a.jsonl", "-"])
    options.Files().check("-", "a.jsonl")


def test_a_result_is_printed_in_the_form_asked_for(capsys):
    options.Shown(form="tsv").show(Result("score", [{"a": 1}]), quiet=True)
    assert capsys.readouterr().out == "a\n1\n"
    with pytest.raises(InputError, match="unknown format"):
        options.Shown(form="xml").check()


def test_notes_of_a_table_for_programs_go_to_standard_error(capsys):
    options.Shown(form="csv").show(Result("score", [{"a": 1}], notes=["be careful"]), quiet=False)
    assert capsys.readouterr() == ("a\n1\n", "note: be careful\n")


@pytest.mark.parametrize("form", ["json", "tsv", "csv"])
def test_options_of_tables_are_refused_where_none_is_shown(form):
    options.Shown(form=form).check(worst=0, intervals=False)
    with pytest.raises(InputError, match=f"^--width is about tables, and -f {form} holds every row and digit$"):
        options.Shown(form=form, width=2).check()
    with pytest.raises(InputError, match=r"^--worst is about tables"):
        options.Shown(form=form).check(worst=2, intervals=False)
    options.Shown(width=2).check(worst=2, intervals=True)


def test_an_option_without_effect_is_named():
    options.refuse_idle({"draws": None, "seed": False}, "draws nothing")
    with pytest.raises(InputError, match=r"^--legacy-join joins nothing here$"):
        options.refuse_idle({"draws": None, "legacy_join": True}, "joins nothing here")


@pytest.mark.parametrize(
    ("group", "field", "kind"),
    [
        (options.Shown, "form", text.FORMS),
        (options.Common, "dtype", get_args(runtime.DType)),
        (audit.AuditRules, "design", get_args(suite.Design)),
        (audit.AuditRules, "ties", get_args(preferences.Ties)),
        (audit.Paraphrasing, "choose", get_args(paraphrase.How)),
        (audit.Making, "field", get_args(preference.Field)),
        (synth.SeverityOptions, "severity", get_args(severity.Kind)),
    ],
)
def test_choices_in_the_help_are_those_of_the_library(group, field, kind):
    assert set(fields_of(group)[field].words) == set(kind)


def declarations():
    """(flag, help) of each option of each verb -> where it is written: a field of a class, an alias, or a verb."""
    written = {}
    verbs = [verb.load() for verb in (*VERBS.values(), *INNER.values(), *TRAIN.values())]
    for verb in (inspect.unwrap(function) for function in verbs if inspect.isfunction(function)):
        kinds = get_type_hints(verb, include_extras=True)
        for name, kind in kinds.items():
            if isinstance(kind, type) and is_dataclass(kind):
                for field, of_field in get_type_hints(kind, include_extras=True).items():
                    owner = next(one for one in kind.__mro__ if field in vars(one).get("__annotations__", {}))
                    add(written, f"{owner.__qualname__}.{field}", field, owner.__annotations__[field], of_field)
            else:
                add(written, f"{verb.__qualname__}.{name}", name, verb.__annotations__[name], kind)
    return written


def add(written, owner, name, words, kind):
    alias = None if "[" in words else words.rpartition(".")[2]
    for about in getattr(kind, "__metadata__", ()):
        if isinstance(about, Typed):
            flags = about.flags or (f"--{name.replace('_', '-')}",)
            written.setdefault((*flags, about.help), set()).add(alias or owner)


def test_no_option_is_written_twice():
    found = declarations()
    assert len(found) > 200
    twice = {option: where for option, where in found.items() if len(where) > 1}
    assert not twice


def test_a_verb_may_have_defaults_of_its_own():
    @dataclass(frozen=True)
    class Group:
        top: Annotated[int, Typed("So many.")] = 1
        sizes: Annotated[tuple[Annotated[int, Range(least=1)], ...], Typed("Sizes.")] = (3, 4)

    @options.verb(defaults={"top": 7})
    def verb(group: Group) -> Group:
        return group

    assert [one.default for one in inspect.signature(verb).parameters.values()] == [7, "3,4"]
    assert verb(top=7, sizes="5, 6") == Group(7, (5, 6))
    with pytest.raises(InputError, match=r"^--sizes is '5,x', expected whole numbers with commas$"):
        verb(top=7, sizes="5,x")


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("hyp=[gpt, temp=0] Say {{it}},ref=gold", {"hyp": "[gpt, temp=0] Say {{it}}", "ref": "gold"}),
        ("hyp=a, ref=b", {"hyp": "a", "ref": "b"}),
        ("out=hyp, gold=ref", {"out": "hyp", "gold": "ref"}),
        ("better=good, worse=bad", {"better": "good", "worse": "bad"}),
        ('hyp="a,ref=b",ref=c', {"hyp": "a,ref=b", "ref": "c"}),
        ('hyp="say ""hi"", you",src=x', {"hyp": 'say "hi", you', "src": "x"}),
        ('hyp="p, q",hyp=r=s', {"p, q": "hyp", "r=s": "hyp"}),
        ("seg=item,human.q=ann,human.q=ben", {"item": "seg", "ann": "human.q", "ben": "human.q"}),
    ],
)
def test_names_of_columns_may_hold_commas_and_equal_signs(typed, named):
    assert columns_of([typed]) == named
