#!/bin/sh
# The head sescore and, with the extra base, sescore-base, from the folder with mlqe-pe/ and ud/: sh run.sh DATA OUT
set -eu
data=$1 out=$2 here=$(dirname "$0")
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
about="MLQE-PE, et-en with two references (CC0); infill head as its card says (CC BY-SA 4.0)"

# Errors in one of two translations, to be scored against the other.
nlgauge synth "$data/mlqe-pe/segments_multiref_et-en.jsonl.gz" --paraphrase references --variants 2 --severity none \
  --dtype float32 --seed 0 -o "$out/triples.jsonl"

# Sentences with one error each for the scale: 0, -1 and -5 for no error, a minor and a severe one.
for set in ewt.dev pud.test; do
  python -c 'import gzip, json, sys; t = [json.loads(line)["text"] for line in gzip.open(sys.argv[1])]; print("\n".join(s for s in t if len(s.split()) > 7))' \
    "$data/ud/$set.jsonl.gz" | head -1000 > "$out/$set.txt"
  nlgauge synth "$out/$set.txt" -o "$out/$set.jsonl" --severity binary --dtype float32 --seed 21 --set edits=1,max_edits=1
done

train() { # encoder, layer, name
  nlgauge train sescore "$out/triples.jsonl" -o "$out/$3.raw.safetensors" --encoder "$1" --layer "$2" --about name="$3" \
    --method ridge --features 4h+match --strength 3 --untrained 0.5 --dtype float32 --about recipe=recipes/sescore \
    --about phenomena=addition,omission,jumble_words --about severities="none: -1 an error" --about data="$about"
  python "$here/calibrate.py" "$out/$3.raw.safetensors" "$out/ewt.dev.jsonl" --on "$out/pud.test.jsonl" -o "$out/$3.safetensors"
}
train embedded 3 sescore
if nlgauge doctor | grep -Eq '^base +(whole|installed)'; then train base 6 sescore-base; fi
