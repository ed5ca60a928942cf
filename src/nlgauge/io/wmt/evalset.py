"""A test set in one language pair: texts, what people and metrics said of them, and the systems that take part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nlgauge.core.arrays import Array
from nlgauge.core.errors import InputError, nearest
from nlgauge.core.segment import Dataset, Segment, Selection, select_systems
from nlgauge.core.tables import Key, ScoreTable
from nlgauge.io.files.files import InputFile
from nlgauge.io.files.lines import counted

META = "meta.json"
Texts = tuple[str | None, ...]
Scores = Mapping[str, Array]  # system -> one number a unit of the level


@dataclass(frozen=True)
class Info:
    """Facts that the files leave open; read from `meta.json` beside them.

    Attributes:
        reference: the standard reference.
        gold: level -> name of the standard human scores.
        outliers, primary: systems and metrics.
    """

    reference: str | None = None
    gold: Mapping[str, str] = field(default_factory=dict)
    outliers: frozenset[str] = frozenset()
    primary: frozenset[str] = frozenset()


@dataclass(frozen=True)
class EvalSet:
    """A test set in one language pair: N segments, and what systems, people and metrics made of them.

    Attributes:
        name, lp: of the test set and the language pair.
        sources: length N.
        domains, documents: of each segment, length N; segments of a document stand together.
        references, outputs: name -> texts, length N; None where nothing was supplied. An output that bears the name of
            a reference is that reference, scored like a system.
        human, metrics: (name, level) -> scores; a metric's name ends in `-REF`, the references it used. NaN where
            missing; a system may be missing altogether.
        info: standard reference, standard scores, outliers.
        files: what was read.
        notes: what is missing, with counts.
    """

    name: str
    lp: str
    sources: Texts
    domains: tuple[str, ...]
    documents: tuple[str, ...]
    references: Mapping[str, Texts]
    outputs: Mapping[str, Texts]
    human: Mapping[tuple[str, str], Scores] = field(default_factory=dict)
    metrics: Mapping[tuple[str, str], Scores] = field(default_factory=dict)
    info: Info = Info()
    files: tuple[InputFile, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def people(self) -> tuple[str, ...]:
        """Outputs that people wrote: those that bear the name of a reference."""
        return tuple(name for name in self.outputs if name in self.references)

    def units(self, level: str) -> tuple[str | None, ...]:
        """The subjects of the scores of a level, in order: segment numbers from 1, documents, domains, or None."""
        units: dict[str, tuple[str | None, ...]] = {
            "segment": tuple(str(n + 1) for n in range(len(self.sources))),
            "document": tuple(dict.fromkeys(self.documents)),
            "domain": tuple(sorted(set(self.domains))),
            "system": (None,),
        }
        if level not in units:
            raise InputError(f"level {level!r} is unknown{nearest(level, units)}")
        return units[level]

    def table(self, name: str, level: str = "segment") -> ScoreTable:
        """The scores of one metric or of one kind of human judgement.

        Raises:
            InputError: there are no such scores at this level.
        """
        scores = self.human.get((name, level), self.metrics.get((name, level)))
        if scores is None:
            known = [known for known, at in (*self.human, *self.metrics) if at == level]
            raise InputError(f"{self.name} {self.lp}: no scores {name!r} of level {level!r}{nearest(name, known)}")
        units = self.units(level)
        keys = tuple(Key(None, system, unit, self.lp) for system in scores for unit in units)
        values = np.concatenate([scores[system] for system in scores]) if scores else np.empty(0)
        return ScoreTable(keys, {name: values}, level, f"{self.name}/{self.lp}")

    def using(self, references: str | Sequence[str] | None = None) -> tuple[str, ...]:
        """The names of the references to use: those given (`all` is all of them), or the standard one, or the only one.

        Raises:
            InputError: a name is unknown, or there are several references and none is the standard.
        """
        if references == "all":
            return tuple(self.references)
        if references is not None:
            chosen = (references,) if isinstance(references, str) else tuple(references)
            for name in chosen:
                if name not in self.references:
                    raise InputError(f"{self.name} {self.lp}: no reference {name!r}{nearest(name, self.references)}")
            return chosen
        if self.info.reference is not None:
            return (self.info.reference,)
        if len(self.references) > 1:
            found = ", ".join(self.references)
            raise InputError(
                f"{self.name} {self.lp}: references {found}, and none is named as the standard; choose one, or name it"
                f" in {META}"
            )
        return tuple(self.references)

    def select(
        self,
        references: str | Sequence[str] | None = None,
        rated: tuple[str, str] | None = None,
        close_references: Sequence[str] = (),
        include_humans: bool = False,
        include_outliers: bool = False,
    ) -> Selection:
        """Select the systems on which metrics that use these references are compared; see `select_systems`.

        Args:
            references: as for `using`.
            rated: name and level of human scores. Systems without any such score are left out.
            close_references: outputs that were made from those references.
            include_humans: keep outputs written by people.
            include_outliers: keep the outliers named in `meta.json`.
        """
        with_scores = (
            None if rated is None else {s for s, values in self._human(*rated).items() if not np.isnan(values).all()}
        )
        return select_systems(
            tuple(self.outputs),
            references=self.using(references),
            close_references=close_references,
            humans=self.people,
            outliers=self.info.outliers,
            rated=with_scores,
            include_humans=include_humans,
            include_outliers=include_outliers,
        )

    def dataset(self, references: str | Sequence[str] | None = None, systems: Sequence[str] | None = None) -> Dataset:
        """The outputs as segments, item by item, with every human score of level `segment` as a criterion.

        Args:
            references: as for `using`.
            systems: the outputs to take. If None, all except the references that are used.

        Returns:
            The item is the number of the segment from 1, the group is the language pair, and the id is
            `LP:SYSTEM:NUMBER`. Outputs that were not supplied have no segment, and references that were not supplied
            are left out. The notes count both.

        Raises:
            InputError: a system or a reference is unknown.
        """
        used = self.using(references)
        chosen = [name for name in self.outputs if name not in used] if systems is None else list(systems)
        for name in chosen:
            if name not in self.outputs:
                raise InputError(f"{self.name} {self.lp}: no system {name!r}{nearest(name, self.outputs)}")
        criteria = {name: scores for (name, level), scores in self.human.items() if level == "segment"}
        segments: list[Segment] = []
        absent = 0
        for place, source in enumerate(self.sources):
            texts = tuple(text for text in (self.references[name][place] for name in used) if text is not None)
            for system in chosen:
                hypothesis = self.outputs[system][place]
                if hypothesis is None:
                    absent += 1
                    continue
                ratings = {name: float(scores[system][place]) for name, scores in criteria.items() if system in scores}
                human = {name: rating for name, rating in ratings.items() if rating == rating}
                segments.append(
                    Segment(
                        f"{self.lp}:{system}:{place + 1}",
                        hypothesis,
                        texts,
                        source,
                        system,
                        str(place + 1),
                        self.lp,
                        human,
                    )
                )
        where = f"{self.name} {self.lp}"
        notes = list(self.notes)
        left = [name for name in self.outputs if name not in chosen]
        if left:
            notes.append(
                f"{where}: {counted(len(left), 'output')} left out ({', '.join(left)}; references used:"
                f" {', '.join(used) or 'none'})"
            )
        if absent:
            notes.append(f"{where}: {counted(absent, 'translation')} not supplied, without a segment")
        lacking = sum(text is None for name in used for text in self.references[name])
        if lacking:
            notes.append(f"{where}: {counted(lacking, 'reference text')} not supplied")
        return Dataset(tuple(segments), where, tuple(notes))

    def _human(self, name: str, level: str) -> Scores:
        if (name, level) not in self.human:
            known = ", ".join(f"{n} ({at})" for n, at in self.human) or "none"
            raise InputError(f"{self.name} {self.lp}: no human scores {name!r} of level {level!r}; there are: {known}")
        return self.human[name, level]
