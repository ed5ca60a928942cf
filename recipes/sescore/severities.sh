#!/bin/sh
# Thresholds of the shipped judges, from the folder that holds raw/ and ud/: sh severities.sh DATA OUT
# 100 pairs of each perturbation from news sentences and 100 from the English Web Treebank; the robust head has learnt from the former, from none of the latter.
set -eu
data=$1 out=$2 here=$(dirname "$0")
python -c 'import gzip, json, sys; sys.stdout.writelines(json.loads(line)["text"] + "\n" for line in gzip.open(sys.argv[1]))' \
  "$data/ud/ewt.train.jsonl.gz" > "$out/ewt.txt"
python "$here/severities.py" "$data/raw/news.en.txt.gz" -o "$out/news.jsonl" --judge nli --judge nli-robust
python "$here/severities.py" "$out/ewt.txt" -o "$out/ewt.jsonl" --judge nli --judge nli-robust
cat "$out/news.jsonl" "$out/ewt.jsonl" > "$out/pairs.jsonl"
for judge in nli nli-robust; do nlgauge synth --calibrate "$out/pairs.jsonl" --judge $judge; done
