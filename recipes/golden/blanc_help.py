"""Golden numbers of blanc, the authors' released package, for tests/metrics/test_blanc.py.

    pip install --no-deps blanc==0.3.4    # it asks for torch below 2; what it needs besides is installed already
    HF_HUB_OFFLINE=1 python recipes/golden/blanc_help.py

The package imports an optimizer that transformers has dropped and metrics that need more of the kind, none of which
BLANC-help uses, and nltk's sentence splitter, which needs a download: they are replaced here. The model is the shipped
head for gaps with its encoder, as one folder that transformers reads; its limit takes the place of the package's 512.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import nltk.tokenize
import torch
import transformers

from nlgauge.models.heads import find_head
from nlgauge.text.tokenize import split_sentences

_LIMIT, _ROOM = 128, 126
_FERRY = (
    "The harbour was closed on Monday because of a heavy storm. Two ferries waited outside until the evening."
    " The captain said that the passengers were calm and that nobody was injured."
)
_COUNCIL = (
    "The city council has decided to build a new school near the river. The school will cost twelve million pounds and"
    " will open in three years. Many parents have asked for a larger school because the old one is too small."
)
PAIRS = [
    (_FERRY, "Two ferries waited outside the harbour because of a heavy storm."),
    (_FERRY, "The city council has decided to build a new school."),
    (_COUNCIL, "A new school will be built near the river. It will cost twelve million pounds."),
    (_COUNCIL, "Parents want a larger school because the old school is too small for the city."),
    (_COUNCIL, _COUNCIL),
    (_COUNCIL, f"{_FERRY} {_COUNCIL} {_FERRY}"),  # beyond the limit: whole sentences are left out
    (_FERRY.replace(".", ";"), "Two ferries waited outside the harbour because of a heavy storm; nobody was injured."),
    (f"The captain said: {_COUNCIL} {_FERRY} {_FERRY}".replace(". ", ", "), _FERRY.replace(". ", ", ")),  # both cut
]
SETTINGS = [{}, {"measure": "improve"}, {"gap": 6}, {"gap": 1}, {"gap": 3, "normal": 2, "lead": 4, "followup": 2}]
_NAMES = {name: f"min_token_length_{name}" for name in ("normal", "lead", "followup")}


def save_model(folder: Path) -> None:
    """The head and its encoder as a model of transformers."""
    head = find_head("infill", "infill")
    own, adapters = head.tensors()
    encoder = transformers.BertModel.from_pretrained(str(head.encoder.folder), add_pooling_layer=False)
    for name, (down, up) in adapters.items():
        encoder.get_submodule(name).weight.data += (up.double() @ down.double()).float()
    model = transformers.BertForMaskedLM(encoder.config)
    model.bert = encoder
    model.tie_weights()
    transform = model.cls.predictions.transform
    layers = {"dense": transform.dense, "norm": transform.LayerNorm}
    for name, layer in layers.items():
        layer.weight.data, layer.bias.data = own[f"{name}.weight"], own[f"{name}.bias"]
    model.cls.predictions.bias.data = own["bias"]
    model.cls.predictions.decoder.bias.data = own["bias"]
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(str(head.encoder.folder)).save_pretrained(folder)


def main() -> None:
    """Print one line per setting."""
    transformers.AdamW = None
    sys.modules["blanc.shannon"] = ModuleType("blanc.shannon")
    sys.modules["blanc.shannon"].Shannon = None
    nltk.tokenize.sent_tokenize = split_sentences
    from blanc import BlancHelp, utils

    utils.BERT_MAX_TOKENS = _LIMIT
    import blanc.blanc as module

    module.BERT_MAX_TOKENS = _LIMIT
    with tempfile.TemporaryDirectory() as folder, torch.inference_mode():
        save_model(Path(folder))
        for setting in SETTINGS:
            how = {_NAMES.get(name, name): value for name, value in setting.items()}
            metric = BlancHelp(folder, show_progress_bar=False, len_sent_allow_cut=_ROOM // 2, **how)
            values = [metric.eval_once(*pair) for pair in PAIRS]
            print(json.dumps([setting, [round(value, 10) for value in values]]))


if __name__ == "__main__":
    main()
