#!/bin/sh
# The infill head, from the folder that holds raw/, ud/, nli/ and the evaluation sets (see README.md): sh run.sh DATA OUT
set -eu
data=$1 out=$2 here=$(dirname "$0")

python "$here/texts.py" "$out/texts.txt.gz" "$out/held.txt.gz" --lines "$data/raw/news.en.txt.gz" "$data/raw/europarl.en.txt.gz" \
  --texts "$data/ud/ewt.train.jsonl.gz" --premises "$data"/nli/*.train.jsonl.gz \
  --held-out "$data"/*/segments*.jsonl.gz "$data"/*/pairs.jsonl.gz "$data"/*/adversarial.jsonl.gz "$data"/nli/*.test.jsonl.gz "$data"/nli/*.dev.jsonl.gz \
  "$data/ud/ewt.dev.jsonl.gz" "$data/ud/ewt.test.jsonl.gz" "$data/ud/pud.test.jsonl.gz"

# One thread: on a machine with other work two wait for each other longer than they compute.
OMP_NUM_THREADS=1 nlgauge train infill "$out/texts.txt.gz" -o "$out/infill.safetensors" --dev "$out/held.txt.gz" --rank 24 --alpha 48 --mask 0.25 \
  --batch-size 32 --learning-rate 2e-3 --seed 13 --dtype bfloat16 --about name=infill --about recipe=recipes/infill \
  --about data="news (WMT), Europarl, English Web Treebank, premises of SNLI, counterfactual NLI, semi-automatic NLI (Wikipedia), ConjNLI, HELP (CC BY-SA 4.0)"

python "$here/evaluate.py" "$out/infill.safetensors" --on "$out/held.txt.gz" "$data/ud/pud.test.jsonl.gz" "$data/ud/ewt.test.jsonl.gz"
