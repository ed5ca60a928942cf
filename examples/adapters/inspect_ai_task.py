"""Two metrics as the scorer of a task of inspect_ai. Needs the packages inspect-ai and nlgauge[neural]."""

from inspect_ai import Task
from inspect_ai.dataset import Sample
from inspect_ai.solver import generate

from nlgauge.adapters import as_inspect

task = Task(
    dataset=[Sample("Will it rain?", target=["It rains.", "Yes, it will rain."])],
    solver=generate(),
    scorer=as_inspect(["chrf", "bertscore"]),
)
