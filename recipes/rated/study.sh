#!/bin/sh
# How far the metrics of run.sh agree with people, beside others: sh study.sh DATA OUT
set -eu
data=$1 out=$2
for set in "wmt16-da-seg da_z" "bagel quality" "sfhot quality"; do
  nlgauge meta "$data/${set% *}/segments.jsonl.gz" -c "${set#* }" --stat pearson --stat kendall_b --intervals none \
    -m rated -m rated:both=0 -m rated:model=rated-base -m rated:both=0,model=rated-base -m bertscore:model=base \
    -m "ruse:model=$out/ruse.safetensors" -m "beer:model=$out/beer.json" \
    -m "blend:model=$out/blend.json" -m chrf -m bertscore -m sescore
done
