#!/bin/sh
# The heads rated-both-base and rated-both, which read both texts in one sequence (see README.md): sh both.sh DATA OUT
# On one GPU a few minutes; the extra `base` is needed. OUT holds examples.jsonl, .second and .third of
# recipes/spans/examples.py, and triples.jsonl of recipes/sescore/run.sh (also with --seed 1, as triples.1.jsonl).
set -eu
data=$1 out=$2 here=$(dirname "$0")
ratings="$data/wmt15-da-seg/segments.jsonl.gz"
from="--examples $out/examples.jsonl $out/examples.jsonl.second $out/examples.jsonl.third --triples $out/triples.jsonl $out/triples.1.jsonl"
both="--features both --held-out 0 --standardise --dtype bfloat16"

# shellcheck disable=SC2086
python "$here/both.py" synthesis "$out/synthesis.jsonl" $from
for seed in 0 1 2; do
  # shellcheck disable=SC2086
  nlgauge train sescore "$out/synthesis.jsonl" -o "$out/synthesis.$seed.safetensors" --encoder base --init nli-robust-base \
    --epochs 1 --batch-size 64 --learning-rate 2e-4 --encoder-dropout 0.1 --seed "$seed" $both
  # shellcheck disable=SC2086
  nlgauge train regressor "$ratings" -c da_z -o "$out/ratings.$seed.safetensors" --encoder base --init "$out/synthesis.$seed.safetensors" \
    --epochs 4 --batch-size 32 --learning-rate 2e-4 --encoder-dropout 0.1 --seed "$seed" $both
done
python "$here/../tools/shorten.py" "$out"/ratings.[012].safetensors -o "$out/rated-both-base.safetensors" --rank 8 --eight-bits \
  --name rated-both-base --recipe recipes/rated

# What two of these heads say of 76,000 pairs teaches the head on the embedded encoder.
# shellcheck disable=SC2086
python "$here/both.py" texts "$out/texts.jsonl" $from --data "$data"
python "$here/both.py" told "$out/told.jsonl" --texts "$out/texts.jsonl" --heads "$out/ratings.0.safetensors" "$out/ratings.1.safetensors"
# shellcheck disable=SC2086
nlgauge train regressor "$out/told.jsonl" -c told -o "$out/told.1.safetensors" --init nli-robust --rank 32 --alpha 64 \
  --epochs 1 --batch-size 64 --learning-rate 8e-4 --seed 0 $both
# shellcheck disable=SC2086
nlgauge train regressor "$out/told.jsonl" -c told -o "$out/told.2.safetensors" --init "$out/told.1.safetensors" --rank 32 --alpha 64 \
  --epochs 1 --batch-size 64 --learning-rate 5e-4 --seed 10 $both
python "$here/../tools/shorten.py" "$out/told.2.safetensors" -o "$out/rated-both.safetensors" --rank 16 --eight-bits \
  --name rated-both --recipe recipes/rated
