#!/bin/sh
# What each part is worth, on 2,000 news sentences (after network.sh, in its OUT): sh ablations.sh DATA OUT
set -eu
data=$1 out=$2 here=$(dirname "$0")
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}"
gzip -cd "$out/news.txt.gz" | head -2000 > "$out/news2k.txt"
head -500 "$out/news2k.txt" > "$out/news500.txt"
gzip -cd "$out/other.txt.gz" | head -2000 > "$out/other2k.txt"

make() { # NAME TEXTS OPTIONS...: triples, and the head that learns from them
  name=$1 texts=$2
  shift 2
  [ -f "$out/$name.jsonl" ] || nlgauge synth "$texts" -o "$out/$name.jsonl" --dtype bfloat16 -q "$@"
  [ -f "$out/$name.safetensors" ] || nlgauge train sescore "$out/$name.jsonl" -o "$out/$name.safetensors" --features 2h --layer mix --epochs 1 \
    --learning-rate 3e-4 --copies 0.05 --unrelated 0.15 --standardise --held-out 0 --dtype bfloat16 -q
}

make graded "$out/news2k.txt" --severity graded
make binary "$out/news2k.txt"
make none "$out/news2k.txt" --severity none
for operation in insert delete replace swap; do make "$operation" "$out/news2k.txt" --severity graded --operations $operation; done
make small "$out/news500.txt" --severity graded
make other "$out/other2k.txt" --severity graded

set --
for name in graded binary none insert delete replace swap small other; do set -- "$@" "$name=sescore:model=$out/$name.safetensors"; done
python "$here/study.py" "$data" cosine=cosine bertscore=bertscore "$@" "network=sescore:model=$out/sescore.safetensors" --alone --sets WMT15,WMT16

# Severities over three seeds, segments and systems; the encoder stays as it is.
for seed in 0 1 2; do
  [ -f "$out/seed$seed.jsonl" ] || nlgauge synth "$out/news500.txt" -o "$out/seed$seed.jsonl" --severity graded --seed $seed -q
done
python "$here/seeds.py" "$data" "$out/seed0.jsonl" "$out/seed1.jsonl" "$out/seed2.jsonl"

# Amounts: all texts mixed, without severities, for the judge takes most of the time; three seeds of the training.
gzip -cd "$out/news.txt.gz" "$out/other.txt.gz" | python -c 'import random, sys; t = list(dict.fromkeys(sys.stdin)); random.Random(0).shuffle(t); sys.stdout.writelines(t)' \
  > "$out/mix.txt"
[ -f "$out/mix.jsonl" ] || nlgauge synth "$out/mix.txt" -o "$out/mix.jsonl" --severity none -q
mix="$out/mix.jsonl"
python "$here/seeds.py" "$data" "$mix" "$mix" "$mix" --sets WMT16 --kinds none --amounts 500,2000,5000,10000,20000
python "$here/seeds.py" "$data" "$mix" "$mix" "$mix" --sets WMT16 --kinds none --amounts 500,2000,5000,10000 --steps 680
python "$here/seeds.py" "$data" "$mix" "$mix" "$mix" --sets WMT16 --kinds none --amounts 500,2000,5000 --steps 40

# Severities again, with an encoder that learns, and beside it one that does not.
[ -f "$out/mixed.jsonl" ] || nlgauge synth "$out/mix.txt" -o "$out/mixed.jsonl" --severity graded --limit 2010 -q
mixed="$out/mixed.jsonl"
python "$here/seeds.py" "$data" "$mixed" "$mixed" "$mixed" --sets WMT16 --every 2 --kinds graded,none --amounts 500 --method lora
python "$here/seeds.py" "$data" "$mixed" "$mixed" "$mixed" --sets WMT16 --every 2 --kinds graded,none,permuted --amounts 500,2000 --steps 40
