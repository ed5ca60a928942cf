#!/bin/sh
# Both NLI heads, from the folder that holds nli/ and raw/ (see README.md): sh run.sh DATA OUT
set -eu
data=$1/nli raw=$1/raw out=$2 here=$(dirname "$0")
sources="SNLI, counterfactually augmented NLI, semi-automatic NLI (Wikipedia), ConjNLI, HELP"
all="$data/snli.train.jsonl.gz $data/cfnli.train.jsonl.gz $data/base_wiki.train.jsonl.gz $data/sim_wiki.train.jsonl.gz
     $data/translate_wiki.train.jsonl.gz $data/conjnli.train.jsonl.gz $data/help_and.train.jsonl.gz"

# shellcheck disable=SC2086
nlgauge train nli $all "$data/snli.train.jsonl.gz" "$data/cfnli.train.jsonl.gz" -o "$out/nli.safetensors" --batch-size 32 --seed 13 --dtype bfloat16 \
  --about name=nli --about recipe=recipes/nli --about data="$sources (CC BY-SA 4.0)" \
  --about phenomena=number_error,change_numbers,name_error,antonyms,addition,omission --dev "$data/snli.dev.jsonl.gz" --dev "$data/cfnli.dev.jsonl.gz"

# shellcheck disable=SC2086
python "$here/rules.py" "$out/rules.jsonl.gz" 13 --texts "$raw/news.en.txt.gz" "$raw/europarl.en.txt.gz" \
  --pairs "$data"/snli.train.jsonl.gz "$data"/cfnli.train.jsonl.gz "$data"/base_wiki.train.jsonl.gz "$data"/sim_wiki.train.jsonl.gz "$data"/translate_wiki.train.jsonl.gz \
  --held-out "$data"/*.test.jsonl.gz "$data"/*.dev.jsonl.gz --keep 22000 --kept $all "$data/conjnli.train.jsonl.gz"

nlgauge train nli "$out/rules.jsonl.gz" --init "$out/nli.safetensors" -o "$out/taught.safetensors" --learning-rate 5e-4 --seed 13 --dtype bfloat16 \
  --about name=nli-robust --about recipe=recipes/nli --about data="$sources, news and Europarl sentences changed by rule (CC BY-SA 4.0)" \
  --about phenomena="$(paste -sd, "$here/phenomena.txt")" --dev "$data/snli.dev.jsonl.gz" --dev "$data/cfnli.dev.jsonl.gz"

python "$here/blend.py" "$out/nli.safetensors" "$out/taught.safetensors" 0.7 "$out/nli-robust.safetensors" --level "$out/rules.jsonl.gz"

for set in snli cfnli breaking sick med; do tests="${tests:-} $data/$set.test.jsonl.gz"; done
# shellcheck disable=SC2086
python "$here/evaluate.py" "$out/nli.safetensors" "$out/nli-robust.safetensors" --on $tests "$data/conjnli.dev.jsonl.gz"
