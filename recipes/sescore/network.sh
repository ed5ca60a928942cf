#!/bin/sh
# The network that was the head sescore before, which ablations.sh changes part by part: sh network.sh DATA OUT (see README.md)
set -eu
data=$1 out=$2 here=$(dirname "$0")
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
tested="$data/wmt15-da-seg/segments.jsonl.gz $data/wmt16-da-seg/segments.jsonl.gz $data/summeval/segments.jsonl.gz $data/bagel/segments.jsonl.gz
        $data/webnlg2020-humaneval/segments.jsonl.gz"
for set in snli.test snli.dev cfnli.test conjnli.dev sick.test med.test; do tested="$tested $data/nli/$set.jsonl.gz"; done

# shellcheck disable=SC2086
python "$here/../infill/texts.py" "$out/news.txt.gz" "$out/held.gz" --hold 1 --lines "$data/raw/news.en.txt.gz" --held-out $tested
# shellcheck disable=SC2086  for ablations.sh
python "$here/../infill/texts.py" "$out/other.txt.gz" "$out/held.gz" --hold 1 --lines "$data/raw/europarl.en.txt.gz" \
  --texts "$data/ud/ewt.train.jsonl.gz" --held-out $tested
gzip -cd "$out/news.txt.gz" | head -3000 > "$out/heavy.txt"

nlgauge synth "$out/news.txt.gz" -o "$out/news.jsonl" --severity graded --dtype bfloat16
nlgauge synth "$out/heavy.txt" -o "$out/heavy.jsonl" --severity graded --dtype bfloat16 --seed 9 --set edits=8,max_edits=12

nlgauge train sescore "$out/news.jsonl" "$out/heavy.jsonl" -o "$out/sescore.safetensors" --features 2h --layer mix --epochs 1 --learning-rate 3e-4 \
  --copies 0.05 --unrelated 0.15 --standardise --held-out 0.03 --seed 0 --dtype bfloat16 --curve "$out/curve.tsv" \
  --about name=sescore --about recipe=recipes/sescore --about phenomena=addition,omission,jumble_words --about severities="graded, nli-robust, threshold 0.29" \
  --about data="news (WMT); judge and infill head as their cards say (CC BY-SA 4.0)"
