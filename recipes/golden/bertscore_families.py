"""Scores of bert_score on the small encoders of tests/metrics/embedding/tiny_encoders.py, which the tests compare with.

python3.11 -m venv peer
peer/bin/pip install bert-score==0.3.13 transformers==4.57.6 torch==2.13.0 sentencepiece protobuf
export HF_HUB_OFFLINE=1 PYTHONPATH=.
peer/bin/python recipes/golden/bertscore_families.py > tests/golden/bertscore_families.json

Under transformers 5 bert_score loses the space that it puts before a text for RoBERTa.
"""

import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from bert_score import BERTScorer
from tests.metrics.embedding import tiny_encoders

found = {name: version(name) for name in ("bert-score", "torch", "transformers")}
hypotheses, references = zip(*tiny_encoders.PAIRS, strict=True)
with tempfile.TemporaryDirectory() as place:
    for kind in tiny_encoders.KINDS:
        folder = str(tiny_encoders.save(kind, Path(place, kind)))
        for layer in (1, tiny_encoders.LAYERS):
            scorer = BERTScorer(model_type=folder, num_layers=layer, device="cpu")
            scores = scorer.score(list(hypotheses), list(references), batch_size=1)  # nothing is padded
            found[f"{kind} {layer}"] = [[round(one, 8) for one in part.tolist()] for part in scores]
json.dump(found, sys.stdout, indent=1)
print()
