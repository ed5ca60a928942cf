"""Small encoders of three families, weights by a formula, so that bert-score and the tests make the same ones.

They lie in folders as their repositories on the hub do: RoBERTa and DeBERTa v1 with vocab.json and merges.txt, DeBERTa
v3 with spm.model alone.
"""

import json

from tests.models.tiny_comet import SHAPE, numbers

LAYERS = 3
RELATIVE = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_biased_input": False}
V3 = {"norm_rel_ebd": "layer_norm", "position_buckets": 8, "max_relative_positions": -1, "share_att_key": True}
# kind -> (type, tokenizer's class, pieces 0 to 3, configuration)
KINDS = {
    "roberta": (
        "roberta",
        "RobertaTokenizer",
        {"bos": "<s>", "pad": "<pad>", "eos": "</s>", "unk": "<unk>"},
        {"max_position_embeddings": 66, "type_vocab_size": 1, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2},
    ),
    "deberta": (
        "deberta",
        "DebertaTokenizer",
        {"pad": "[PAD]", "cls": "[CLS]", "sep": "[SEP]", "unk": "[UNK]"},
        {**RELATIVE, "max_position_embeddings": 64, "type_vocab_size": 0, "pad_token_id": 0},
    ),
    "deberta-v3": (
        "deberta-v2",
        "DebertaV2Tokenizer",
        {"pad": "[PAD]", "cls": "[CLS]", "sep": "[SEP]", "unk": "[UNK]"},
        {**RELATIVE, **V3, "max_position_embeddings": 64, "type_vocab_size": 0, "pad_token_id": 0},
    ),
}
PAIRS = [
    ("The cat sat on the mat.", "A cat was on the rug."),
    ("cats", "The cats"),  # the first word after a space and at the start of a text
    ("Prices rose by 12 % last year!", "Last year prices rose by a lot."),
    ("  outer blanks ", "inner   blanks"),
    ("naïve – “quotes” 今天", "naive quotes"),
    ("the cat " * 40, "the rug " * 50),  # beyond the limit
]
_LETTERS = [chr(code) for code in range(33, 127)]


def save(kind, folder):
    """Write configuration, weights and tokenizer; the folder."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoConfig, AutoModel

    family, tokenizer, special, shape = KINDS[kind]
    folder.mkdir(parents=True)
    size = _save_pieces(folder, list(special.values())) if kind == "deberta-v3" else _save_bytes(folder, special)
    about = {f"{key}_token": piece for key, piece in special.items()}
    about |= {"tokenizer_class": tokenizer, "model_max_length": 64, "do_lower_case": False}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    shape = {**SHAPE, **shape, "num_hidden_layers": LAYERS, "vocab_size": size, "layer_norm_eps": 1e-5}
    (folder / "config.json").write_text(json.dumps({**shape, "model_type": family}))
    model = AutoModel.from_config(AutoConfig.from_pretrained(folder))
    shapes = {name: tuple(one.shape) for name, one in model.named_parameters() if "pooler" not in name}
    weights = {name: torch.from_numpy(numbers(name, shape)) for name, shape in shapes.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def _save_bytes(folder, special):
    """Pieces of bytes, as GPT-2 has them; their number."""
    from tokenizers import pre_tokenizers

    merges = [("Ġ", "c"), ("a", "t"), ("Ġc", "at"), ("c", "at"), ("Ġ", "t"), ("h", "e"), ("Ġt", "he"), ("Ġcat", "s")]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    pieces = [
        *special.values(),
        *alphabet,
        *("".join(merge) for merge in merges),
        "<mask>" if "bos" in special else "[MASK]",
    ]
    (folder / "vocab.json").write_text(json.dumps({piece: i for i, piece in enumerate(pieces)}), encoding="utf-8")
    lines = ["#version: 0.2", *(" ".join(merge) for merge in merges)]
    (folder / "merges.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return len(pieces)


def _save_pieces(folder, special):
    """Pieces of SentencePiece, of which the more frequent ones are longer; their number with the mask's."""
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.trainer_spec.model_type = 1  # unigram
    model.trainer_spec.unk_id, model.trainer_spec.pad_id = 3, 0
    model.trainer_spec.bos_id, model.trainer_spec.eos_id = 1, 2
    model.trainer_spec.pad_piece, model.trainer_spec.unk_piece = special[0], special[3]
    model.trainer_spec.bos_piece, model.trainer_spec.eos_piece = special[1], special[2]
    model.normalizer_spec.name, model.normalizer_spec.add_dummy_prefix = "identity", True
    model.normalizer_spec.remove_extra_whitespaces = model.normalizer_spec.escape_whitespaces = True
    for piece in special:
        model.pieces.add(piece=piece, score=0, type=2 if piece == special[3] else 3)
    words = ("\u2581the", "\u2581cat", "s", "\u2581rose", "ed", "en", "\u2581The")
    for piece, score in [*((one, -3.0) for one in ("\u2581", *_LETTERS)), *((one, -1.0 - len(one)) for one in words)]:
        if piece not in {one.piece for one in model.pieces}:
            model.pieces.add(piece=piece, score=score, type=1)
    (folder / "spm.model").write_bytes(model.SerializeToString())
    return len(model.pieces) + 1
