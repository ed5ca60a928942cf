#!/bin/sh
# The heads rated and, with the extra base, rated-base; RUSE and two linear models of the same ratings beside them (see README.md): sh run.sh DATA OUT
set -eu
data=$1 out=$2
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
ratings="$data/wmt15-da-seg/segments.jsonl.gz"
about="WMT15 DA: 2,000 translations into English"

nlgauge train regressor "$ratings" -c da_z -o "$out/rated.safetensors" --method ridge --features 4h+match --layer 3 \
  --dtype float32 --about name=rated --about recipe=recipes/rated --about data="$about"
if nlgauge doctor | grep -Eq '^base +(whole|installed)'; then
  nlgauge train regressor "$ratings" -c da_z -o "$out/rated-base.safetensors" --encoder base --method ridge \
    --features 4h+match --layer 6 --dtype float32 --about name=rated-base --about recipe=recipes/rated --about data="$about"
fi
nlgauge train regressor "$ratings" -c da_z -o "$out/ruse.safetensors" --method frozen --layer 3 --widths 128 --epochs 5 \
  --standardise --held-out 0 --dtype float32 --seed 0 --about name=ruse --about recipe=recipes/rated --about data="$about"
nlgauge train beer "$ratings" -c da_z -o "$out/beer.json" --within group --seed 0 --about recipe=recipes/rated --about data="$about"
nlgauge train blend "$ratings" -c da_z -o "$out/blend.json" -m chrf -m bleu -m ter -m rougeL \
  --about recipe=recipes/rated --about data="$about"
