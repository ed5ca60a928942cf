"""Which verbs there are, where each lives, and what it does in a line: only the one that is typed is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

_NOTHING = "nothing was written"
_CACHED = "scores of models made so far are in the cache, and the same command goes on from there"
_RESUMED = "the same command goes on where this one stopped"


@dataclass(frozen=True)
class Verb:
    """A verb of the command.

    Attributes:
        home: `module:function`; the function, or a `typer.Typer` of verbs.
        summary: the first line of its docstring, or the help of the group.
        stopped: what is left of its work if it is interrupted.
    """

    home: str
    summary: str
    stopped: str = _NOTHING

    def load(self) -> Any:
        """Import it."""
        module, _, name = self.home.partition(":")
        return getattr(import_module(module), name)


VERBS: Mapping[str, Verb] = {
    "score": Verb(
        "nlgauge.cli.score:score", "Score systems with any metrics, and test them against each other.", _CACHED
    ),
    "align": Verb(
        "nlgauge.cli.align:align", "Show token similarities, matches and weights of a hypothesis and a reference."
    ),
    "perturb": Verb("nlgauge.cli.perturb:perturb", "Perturb texts, and write pairs of before and after."),
    "audit": Verb("nlgauge.cli.audit:audit", "Find out what a metric cannot see.", _CACHED),
    "meta": Verb("nlgauge.cli.meta:meta", "Hold metrics against human judgements.", _CACHED),
    "select": Verb(
        "nlgauge.cli.select:select",
        "Hits@1, MRR and Diff: how good is the best model by a metric, in the eyes of people?",
        _CACHED,
    ),
    "sweep": Verb(
        "nlgauge.cli.sweep:sweep",
        "Mix metrics: robustness against agreement with people, as the weight goes from 0 to 1.",
        _CACHED,
    ),
    "synth": Verb(
        "nlgauge.cli.synth:synth",
        "Put errors into texts, edit by edit, and rate each; a run that was stopped goes on where it was.",
        _RESUMED,
    ),
    "list": Verb(
        "nlgauge.cli.listing:list_known",
        "List metrics, perturbations, statistics with tests and protocols, formats, or suites.",
    ),
    "doctor": Verb(
        "nlgauge.cli.doctor:doctor",
        "Say what is installed, which device would be used, and whether the embedded files are whole.",
    ),
    "train": Verb("nlgauge.cli.train.group:app", "Make what a metric needs from data."),
}
TRAIN: Mapping[str, Verb] = {
    "infill": Verb(
        "nlgauge.cli.train.infill:train_infill",
        "Train a filler of gaps on raw sentences, for infill=FILE; a run that was stopped goes on where it was.",
        _RESUMED,
    ),
    "sescore": Verb(
        "nlgauge.cli.train.scores:train_sescore",
        "Train SEScore on synthetic errors, for sescore:model=...; a run that was stopped goes on where it was.",
        _RESUMED,
    ),
    "regressor": Verb(
        "nlgauge.cli.train.scores:train_regressor",
        "Train a metric on people's ratings, for regressor:model=...; a run that was stopped goes on where it was.",
        _RESUMED,
    ),
    "baseline": Verb(
        "nlgauge.cli.train.bertscore:train_baseline",
        "Measure what unrelated sentences score at every layer, for bertscore:rescale=true,baseline=FILE.",
    ),
    "layers": Verb(
        "nlgauge.cli.train.bertscore:train_layers",
        "Find the layer whose BERTScore agrees best with people, for bertscore:model=...,layer=N.",
        _CACHED,
    ),
    "nli": Verb(
        "nlgauge.cli.train.nli:train_nli",
        "Train an NLI model on labelled pairs, for nli:model=...; a run that was stopped goes on where it was.",
        _RESUMED,
    ),
}


def left_of(arguments: Sequence[str]) -> str:
    """What is left of a command that was interrupted, for the one who typed it."""
    words = [word for word in arguments if not word.startswith("-")]
    verbs = TRAIN if words[:1] == ["train"] else VERBS
    verb = verbs.get(next(iter(words[1:] if verbs is TRAIN else words), ""))
    if verb is None or (verb.stopped == _CACHED and "--no-cache" in arguments):
        return _NOTHING
    return verb.stopped


def group_of(verbs: Mapping[str, Verb], **about: Any) -> typer.Typer:
    """A group of verbs that imports the one that is typed, and none to list them."""
    settings: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": None, "add_completion": False}

    class Group(TyperGroup):
        """Verbs by name; each is a stand-in with a summary until it is called."""

        def resolve_command(self, ctx: Any, args: list[str]) -> Any:
            """The verb that is typed, imported."""
            name, stand_in, rest = super().resolve_command(ctx, args)
            return name, stand_in if name is None else _command(name, verbs[name].load()), rest

    app = typer.Typer(
        cls=Group,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        **settings,
        **about,
    )
    for name, verb in verbs.items():
        app.command(name, help=verb.summary)(_stand_in)
    app.callback()(_stand_in)  # a group, even of one verb
    return app


def _stand_in() -> None:
    pass


def _command(name: str, verb: Any) -> Any:
    """What typer makes of a verb: a command of a function, a group of a group."""
    if isinstance(verb, typer.Typer):
        return typer.main.get_command(verb)
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    alone.command(name)(verb)
    return typer.main.get_command(alone)
