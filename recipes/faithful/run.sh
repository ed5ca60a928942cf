#!/bin/sh
# The head `faithful`, from the folder that holds nli/, raw/, ud/ and mlqe-pe/ (see README.md): sh run.sh DATA OUT
set -eu
data=$1 out=$2 here=$(dirname "$0")

for set in snli cfnli base_wiki sim_wiki translate_wiki conjnli; do kept="${kept:-} $data/nli/$set.train.jsonl.gz"; done
# shellcheck disable=SC2086
PYTHONPATH="$here/../nli:${PYTHONPATH:-}" python "$here/claims.py" "$out/claims.jsonl.gz" 13 --share 0.65 --dev "$out/claims.dev.jsonl.gz" \
  --news "$data/raw/news.en.txt.gz" --tagged "$data/ud/ewt.train.jsonl.gz" --keep 2500 --kept $kept \
  --pairs "$data"/nli/base_wiki.train.jsonl.gz "$data"/nli/sim_wiki.train.jsonl.gz "$data"/nli/translate_wiki.train.jsonl.gz "$data"/nli/conjnli.train.jsonl.gz \
  --translations "$data"/mlqe-pe/segments_et-en.jsonl.gz "$data"/mlqe-pe/segments_ro-en.jsonl.gz "$data"/mlqe-pe/segments_ru-en.jsonl.gz \
  --held-out "$data"/nli/*.test.jsonl.gz "$data"/nli/*.dev.jsonl.gz

nlgauge train nli "$out/claims.jsonl.gz" --init "$here/../../src/nlgauge/data/heads/nli-robust.safetensors" -o "$out/faithful-16-bits.safetensors" \
  --rank 32 --alpha 32 --learning-rate 4e-4 --batch-size 32 --seed 13 --dtype bfloat16 --max-tokens 384 --dev "$out/claims.dev.jsonl.gz" \
  --about name=faithful --about recipe=recipes/faithful --about phenomena="$(paste -sd, "$here/../nli/phenomena.txt")" \
  --about data="the data of nli-robust, news and web sentences, and translations of MLQE-PE, changed by rule (CC BY-SA 4.0)"

python "$here/../tools/shorten.py" "$out/faithful-16-bits.safetensors" -o "$out/faithful.safetensors" --rank 32 --eight-bits
