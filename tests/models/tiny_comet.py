"""A checkpoint of unbabel-comet whose weights are a formula, so that the package and the tests make the same one."""

import itertools
import json

import numpy as np

SHAPE = {"hidden_size": 32, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 48}
HIDDEN = (24, 8)
KINDS = {"regression_metric": 6, "referenceless_regression_metric": 4}  # vectors that the estimator reads
ROWS = [
    {"src": "Das Museum wurde 1990 eroeffnet.", "mt": "The museum was opened in 1990.", "ref": "It opened in 1990."},
    {"src": "Montags ist es zu.", "mt": "It is never closed.", "ref": "It is closed on Mondays."},
    {"src": "Die Katze sass da.", "mt": "a cat " * 300, "ref": "The cat sat there."},  # beyond the limit
]


def numbers(name, shape):
    """The weights of a name: about 0, those of norms about 1."""
    step = sum(map(ord, name)) % 89 + 1
    found = 0.25 * np.sin(0.61 * step + 0.017 * (step + 3) * np.arange(np.prod(shape, dtype=int)))
    return (found + (1 if "LayerNorm.weight" in name or name.endswith("gamma") else 0)).reshape(shape).astype("float32")


def save_encoder(folder):
    """Write configuration and tokenizer of a small XLM-R, without weights; the configuration."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import XLMRobertaConfig

    folder.mkdir(parents=True, exist_ok=True)
    letters = [chr(code) for code in range(33, 127)]
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [(piece, 0.0) for piece in special]
    pieces += [(piece, -3.0) for piece in ("\u2581", *letters)] + [(f"\u2581{letter}", -2.0) for letter in letters]
    pieces += [(word, -1.0) for word in ("\u2581the", "\u2581cat", "\u2581It", "\u2581is", "ed", "en", "<mask>")]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    named = {"bos": "<s>", "eos": "</s>", "sep": "</s>", "cls": "<s>", "unk": "<unk>", "pad": "<pad>", "mask": "<mask>"}
    about = {"tokenizer_class": "XLMRobertaTokenizer", "model_max_length": 512}
    about |= {f"{key}_token": piece for key, piece in named.items()}
    (folder / "tokenizer_config.json").write_text(json.dumps(about))
    config = XLMRobertaConfig(
        vocab_size=len(pieces),
        max_position_embeddings=514,
        type_vocab_size=1,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        layer_norm_eps=1e-5,
        **SHAPE,
    )
    config.save_pretrained(folder)
    return config


def state(config, kind):
    """The tensors of a checkpoint, by their names in unbabel-comet."""
    import torch
    from transformers import XLMRobertaModel

    encoder = XLMRobertaModel(config, add_pooling_layer=False).state_dict()
    shapes = {f"encoder.model.{name}": tuple(one.shape) for name, one in encoder.items()}
    layers = config.num_hidden_layers + 1
    shapes |= {f"layerwise_attention.scalar_parameters.{i}": (1,) for i in range(layers)}
    shapes["layerwise_attention.gamma"] = (1,)
    sizes = [KINDS[kind] * config.hidden_size, *HIDDEN, 1]
    for i, (before, after) in enumerate(itertools.pairwise(sizes)):
        shapes |= {f"estimator.ff.{3 * i}.weight": (after, before), f"estimator.ff.{3 * i}.bias": (after,)}
    unused = {"dropout_mask": torch.zeros(layers), "dropout_fill": torch.full((layers,), -1e20)}  # for training
    return {f"layerwise_attention.{name}": tensor for name, tensor in unused.items()} | {
        name: encoder[name.removeprefix("encoder.model.")]
        if name.endswith("position_ids")
        else torch.from_numpy(numbers(name, shape))
        for name, shape in shapes.items()
    }


def save(folder, config, encoder, kind="regression_metric", mix="softmax", **changed):
    """Write a checkpoint with its settings; `encoder` is what they call the pretrained model."""
    import torch

    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    settings = {
        "activations": "Tanh",
        "class_identifier": kind,
        "dropout": 0.1,
        "encoder_model": "XLM-RoBERTa",
        "final_activation": None,
        "hidden_sizes": list(HIDDEN),
        "keep_embeddings_frozen": True,
        "layer": "mix",
        "layer_norm": False,
        "layer_transformation": mix,
        "load_pretrained_weights": False,
        "pool": "avg",
        "pretrained_model": encoder,
        "train_data": ["a.csv"],
        "validation_data": ["b.csv"],
        **changed,
    }
    (folder / "hparams.yaml").write_text(json.dumps(settings))  # JSON is YAML
    kept = {"hyper_parameters": settings, "epoch": 1, "global_step": 1, "pytorch-lightning_version": "2.0.0"}
    torch.save({"state_dict": state(config, kind), **kept}, folder / "checkpoints/model.ckpt")
