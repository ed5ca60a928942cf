"""Scores of unbabel-comet itself on the small checkpoint of tests/models/tiny_comet.py, which the tests compare with.

python3.11 -m venv comet && comet/bin/pip install unbabel-comet==2.2.7 torch==2.13.0 'setuptools<80'
HF_HUB_OFFLINE=1 comet/bin/python recipes/golden/unbabel_comet.py > tests/golden/comet.json
"""

import importlib.util
import json
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from comet import load_from_checkpoint

_spec = importlib.util.spec_from_file_location(
    "tiny_comet", Path(__file__).parents[2] / "tests" / "models" / "tiny_comet.py"
)
tiny_comet = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(tiny_comet)

found = {name: version(name) for name in ("unbabel-comet", "torch", "transformers")}
with tempfile.TemporaryDirectory() as place:
    encoder = Path(place, "encoder")
    config = tiny_comet.save_encoder(encoder)
    for kind in tiny_comet.KINDS:
        for mix in ("softmax", "sparsemax"):
            folder = Path(place, kind, mix)
            tiny_comet.save(folder, config, str(encoder), kind, mix)
            model = load_from_checkpoint(str(folder / "checkpoints/model.ckpt"), reload_hparams=True, strict=True)
            said = model.predict(tiny_comet.ROWS, batch_size=1, gpus=0, progress_bar=False, num_workers=1)
            found[f"{kind} {mix}"] = [float(score) for score in said.scores]
json.dump(found, sys.stdout, indent=1)
print()
