#!/bin/sh
# A head that saw nothing like an attack, a column of docs/studies/menli.md (see README.md): sh blind.sh DATA OUT
set -eu
data=$1/nli out=$2/nli-blind.safetensors here=$(dirname "$0")

nlgauge train nli "$data/snli.train.jsonl.gz" "$data/base_wiki.train.jsonl.gz" "$data/sim_wiki.train.jsonl.gz" \
  "$data/translate_wiki.train.jsonl.gz" "$data/snli.train.jsonl.gz" -o "$out" --batch-size 32 --seed 13 --dtype float32 \
  --about name=nli-blind --about recipe=recipes/nli --about data="SNLI, semi-automatic NLI (Wikipedia) (CC BY-SA 4.0)" --dev "$data/snli.dev.jsonl.gz"

python "$here/evaluate.py" "$out" --on "$data/conjnli.dev.jsonl.gz" "$data/cfnli.test.jsonl.gz"
python "$here/study.py" "$1" --head "nli-blind=$out" --only nli-blind
