#!/bin/sh
# Heads from texts of a domain, groups of features, and severities by two judges (see README.md): sh domains.sh DATA OUT
# DATA: a folder with mlqe-pe, sfhot, bagel, coco-val-refs and ud to learn from, and the test sets of domains.py.
set -eu
data=$1 out=$2 here=$(dirname "$0")
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"

make() { # TEXTS NAME SEED VARIANTS: triples, each variant a draw of errors
  [ -f "$out/$2.seed$3.jsonl" ] || nlgauge synth "$1" --paraphrase references --variants "$4" --severity none --dtype float32 \
    --seed "$3" -o "$out/$2.seed$3.jsonl" -q
}

python "$here/domains.py" texts "$data" "$out"
make "$data/mlqe-pe/segments_multiref_et-en.jsonl.gz" mlqe 0 2 # the triples of run.sh
make "$data/mlqe-pe/segments_multiref_et-en.jsonl.gz" mlqe 1 1
for name in sfhot bagel; do make "$out/$name.texts.jsonl" $name 0 3; done
python "$here/domains.py" heads "$data" "$out" --every 2 > "$out/domains.md"
python "$here/domains.py" mixtures "$data" "$out" --every 2 > "$out/mixtures.md"
make "$out/coco.texts.jsonl" coco 0 3 # with them there are more rows, and Holm is stricter
python "$here/domains.py" heads "$data" "$out" --sets BAGEL,WMT16 --every 2 > "$out/captions.md"

python "$here/groups.py" "$data" "$out/mlqe.seed0.jsonl" "$out/mlqe.seed1.jsonl" --every 2 --keep "$out" > "$out/sescore.md"
python "$here/groups.py" "$data" --ratings --every 2 --keep "$out" > "$out/rated.md"

python -c 'import gzip, json, sys; sys.stdout.writelines(json.loads(line)["text"] + "\n" for line in gzip.open(sys.argv[1]))' \
  "$data/ud/ewt.train.jsonl.gz" > "$out/ewt.txt"
python "$here/severities.py" "$out/ewt.txt" -o "$out/pairs.jsonl" --each 5
python "$here/judges.py" "$data" "$out/mlqe.seed0.jsonl" "$out/mlqe.seed1.jsonl" --pairs "$out/pairs.jsonl" \
  --store "$out/verdicts.jsonl" --every 2 --keep "$out" > "$out/judges.md"
