#!/bin/sh
# Heads from texts of a domain, and the groups of features (see README.md): sh domains.sh DATA OUT
# DATA: a folder with mlqe-pe, sfhot, bagel and coco-val-refs to learn from, and the test sets of domains.py and groups.py.
set -eu
data=$1 out=$2 here=$(dirname "$0")
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
python "$here/domains.py" texts "$data" "$out"
for seed in 0 1 2; do
  for name in mlqe sfhot bagel coco; do
    texts="$out/$name.jsonl"
    if [ $name = mlqe ]; then texts="$data/mlqe-pe/segments_multiref_et-en.jsonl.gz"; fi
    [ -f "$out/$name.$seed.jsonl" ] || nlgauge synth "$texts" --paraphrase references --variants 2 --severity none \
      --dtype float32 --seed $seed -o "$out/$name.$seed.jsonl" -q
  done
done
python "$here/domains.py" heads "$data" "$out" --every 2 --keep "$out" > "$out/domains.md"
python "$here/groups.py" "$data" "$out/mlqe.0.jsonl" "$out/mlqe.1.jsonl" "$out/mlqe.2.jsonl" --every 2 --keep "$out" > "$out/sescore.md"
python "$here/groups.py" "$data" --ratings --every 2 --keep "$out" > "$out/rated.md"
