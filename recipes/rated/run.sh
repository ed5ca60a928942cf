#!/bin/sh
# The head rated, and two linear models of the same ratings to compare it with (see README.md): sh run.sh DATA OUT
set -eu
data=$1 out=$2
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
ratings="$data/wmt15-da-seg/segments.jsonl.gz"
about="WMT15 DA: 2,000 translations into English"

nlgauge train regressor "$ratings" -c da_z -o "$out/rated.safetensors" --method frozen --layer 3 --widths 128 --epochs 5 \
  --standardise --held-out 0 --dtype float32 --seed 0 --name rated --recipe recipes/rated --data "$about"
nlgauge train beer "$ratings" -c da_z -o "$out/beer.json" --within group --seed 0 --recipe recipes/rated --data "$about"
nlgauge train blend "$ratings" -c da_z -o "$out/blend.json" -m chrf -m bleu -m ter -m rougeL \
  --recipe recipes/rated --data "$about"
