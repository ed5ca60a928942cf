"""BERTScore of token vectors that a gradient passes through, so that a model can be trained towards it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save

from nlgauge.core.arrays import by_value
from nlgauge.core.errors import InputError
from nlgauge.core.result import Draft, check_target, replacing
from nlgauge.io.files import InputFile
from nlgauge.models.encoder import torch_device
from nlgauge.models.entailment import PairTokenizer
from nlgauge.models.heads import widened
from nlgauge.models.hub import from_pretrained, know_start
from nlgauge.models.locate import ModelFiles, locate
from nlgauge.models.tokens import Ids
from nlgauge.runtime.runtime import Advance, Runtime
from nlgauge.training.adapters import adapter_tensors, add_adapters, set_adapters
from nlgauge.training.loop import LABELS, Checkpoint, EncodedPairs, alone, encode_pairs, fit_network, read_pairs
from nlgauge.training.recipe import NliRecipe, Recipe, check_precision, run_line, trainable


@by_value
@dataclass(frozen=True)
class Matched:
    """Precision, recall and F of n pairs of texts, tensors of shape (n,), in cosine units."""

    precision: torch.Tensor
    recall: torch.Tensor
    f1: torch.Tensor


def match_tokens(
    hypotheses: torch.Tensor,
    references: torch.Tensor,
    hypothesis_weights: torch.Tensor,
    reference_weights: torch.Tensor,
    hypothesis_mask: torch.Tensor,
    reference_mask: torch.Tensor,
) -> Matched:
    """BERTScore from token vectors; every step has a gradient, so `1 - f1` is a loss.

    The values are those of the metric `bertscore` for the same vectors and weights. Of several equal best matches the
    gradient goes to one.

    Args:
        hypotheses: token vectors of any length, shape (n, H, d), padded; for generated texts they may be mixtures of
            embeddings, weighted by the probabilities of words.
        references: shape (n, R, d).
        hypothesis_weights: what each token counts, shape (n, H): 1 or its idf, and 0 for special tokens, which can be
            matched but count nothing.
        reference_weights: shape (n, R).
        hypothesis_mask: True for tokens and False for padding, shape (n, H).
        reference_mask: shape (n, R).

    Returns:
        Precision, recall and F. A side that weighs nothing gives 0; F is 0 where precision and recall have opposite
        signs.

    Raises:
        InputError: shapes do not fit, or a text has no token.

    References:
        Zhang et al. (2020), "BERTScore", sections 3 and 7 (a differentiable score for training).
    """
    import torch

    _check(hypotheses, hypothesis_weights, hypothesis_mask, "hypotheses")
    _check(references, reference_weights, reference_mask, "references")
    if hypotheses.shape[::2] != references.shape[::2]:
        raise InputError(
            f"hypotheses have shape {tuple(hypotheses.shape)} and references {tuple(references.shape)}, expected as"
            " many texts and dimensions"
        )
    left, right = (torch.nn.functional.normalize(side, dim=-1) for side in (hypotheses, references))
    cosines = left @ right.transpose(1, 2)  # (n, H, R)
    both = hypothesis_mask[:, :, None] & reference_mask[:, None, :]
    cosines = cosines.masked_fill(~both, -2.0)  # below any cosine, and finite, so that padding has a gradient of 0
    precision = _mean(cosines.amax(dim=2), hypothesis_weights * hypothesis_mask)
    recall = _mean(cosines.amax(dim=1), reference_weights * reference_mask)
    agree = precision * recall > 0
    total = torch.where(agree, precision + recall, torch.ones_like(precision))
    f1 = torch.where(agree, 2 * precision * recall / total, torch.zeros_like(precision))
    return Matched(precision, recall, f1)


def _check(vectors: torch.Tensor, weights: torch.Tensor, mask: torch.Tensor, what: str) -> None:
    if vectors.ndim != 3 or weights.shape != vectors.shape[:2] or mask.shape != vectors.shape[:2]:
        raise InputError(
            f"{what} have vectors {tuple(vectors.shape)}, weights {tuple(weights.shape)} and mask"
            f" {tuple(mask.shape)}, expected (n, tokens, d) and twice (n, tokens)"
        )
    if not bool(mask.any(dim=1).all()):
        raise InputError(f"one of the {what} has no token")


def _mean(values: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    """The weighted mean along the last axis; 0 where nothing weighs."""
    import torch

    total = weights.sum(dim=1)
    return (values * weights).sum(dim=1) / torch.where(total > 0, total, torch.ones_like(total))


# --- The networks that read a pair of sentences: an encoder under a small head, or a transformers classifier

FEATURES = "cls,mean"  # of the last layer: the first vector, and the mean of all, special tokens included
_EVALUATION_TOKENS = 4096
_HEADED = ("bert", "mpnet")  # model types whose heads are loaded again


class HeadNetwork(torch.nn.Module):
    """An encoder whose first vector and mean vector are the input of one linear layer.

    Args:
        encoder: of transformers.
        width: of a token's vector.
        outputs: of the linear layer; one for each label by default.
    """

    def __init__(self, encoder: Any, width: int, outputs: int = len(LABELS)) -> None:
        super().__init__()
        self.encoder = encoder
        base = encoder.get_base_model() if hasattr(encoder, "get_base_model") else encoder
        self._typed = "token_type_ids" in signature(base.forward).parameters
        self.classifier = torch.nn.Linear(2 * width, outputs)

    def forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        """Logits, float32, shape (n, outputs)."""
        if not self._typed:
            del inputs["token_type_ids"]
        states = self.encoder(**inputs)[0].float()
        mask = inputs["attention_mask"][:, :, None]
        mean = (states * mask).sum(1) / mask.sum(1)
        with torch.autocast(states.device.type, enabled=False):
            logits: torch.Tensor = self.classifier(torch.cat([states[:, 0], mean], dim=1))
        return logits

    def own_tensors(self) -> dict[str, torch.Tensor]:
        """The weights on top of the encoder, by their names in a head file."""
        return {
            f"classifier.{name}": tensor.detach().float().cpu().contiguous()
            for name, tensor in self.classifier.named_parameters()
        }


class SequenceNetwork(torch.nn.Module):
    """A transformers model for sequence classification; `typed` says whether the types of its pieces are read."""

    def __init__(self, model: Any, typed: bool = True) -> None:
        super().__init__()
        self.model = model
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        self._typed = typed and "token_type_ids" in signature(base.forward).parameters
        self._reads_last = base.config.model_type == "xlnet"
        if base.config.is_encoder_decoder:
            know_start(base)

    def forward(self, **inputs: torch.Tensor) -> torch.Tensor:
        """Logits, float32, shape (n, 3)."""
        if not self._typed:
            del inputs["token_type_ids"]
        if self._reads_last:
            inputs = _from_the_left(inputs)
        logits: torch.Tensor = self.model(**inputs).logits.float()
        return logits


def _from_the_left(inputs: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same sequences with their padding before them, for a model that reads the last vector (XLNet)."""
    mask = inputs["attention_mask"]
    steps = torch.arange(mask.shape[1], device=mask.device)
    places = (steps - (1 - mask).sum(1, keepdim=True)) % mask.shape[1]
    return {name: tensor.gather(1, places) for name, tensor in inputs.items()}


def head_network(
    files: ModelFiles,
    rank: int,
    alpha: float,
    dropout: float,
    seed: int,
    narrow: bool,
    outputs: int = len(LABELS),
) -> HeadNetwork:
    """An encoder with new adapters and a new classifier.

    Args:
        files: the files of a BERT or MPNet encoder.
        rank: the rank of the adapters.
        alpha: the scale of the adapters times their rank.
        dropout: the dropout of the encoder in training.
        seed: the seed of the new weights.
        narrow: keep frozen weights in bfloat16, where arithmetic is in it anyway.
        outputs: of the classifier.
    """
    encoder = encoder_below(files, dropout)
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        adapted = add_adapters(encoder, rank, alpha)
        network = HeadNetwork(adapted, files.config["hidden_size"], outputs)
    if narrow:
        narrow_frozen(network)
    return network


def encoder_below(files: ModelFiles, dropout: float) -> Any:
    """The encoder below a head.

    Raises:
        InputError: the encoder is neither BERT nor MPNet, or its weights cannot be read.
    """
    from transformers import AutoModel

    files.check()
    if files.config.get("model_type") not in _HEADED:
        raise InputError(
            f"a head is made for encoders of type bert or mpnet, {files.name!r} is {files.config.get('model_type')!r};"
            " name a folder as the output"
        )
    return with_dropout(AutoModel, files, dropout, add_pooling_layer=False)


def sequence_network(
    files: ModelFiles, method: str, rank: int, alpha: float, dropout: float, seed: int, narrow: bool
) -> SequenceNetwork:
    """Any encoder as a transformers classifier, trained as a whole (`full`) or by adapters (`lora`).

    Raises:
        InputError: the model reads from left to right and has no piece for padding, so that it reads no batch.
    """
    from transformers import AutoModelForSequenceClassification

    if files.reads_left_to_right and files.config.get("pad_token_id") is None:
        raise InputError(
            f"model {files.name!r} has no piece for padding, which a batch needs; name one as pad_token_id in its"
            " config.json"
        )
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        names = {"id2label": dict(enumerate(LABELS)), "label2id": {label: i for i, label in enumerate(LABELS)}}
        model = with_dropout(AutoModelForSequenceClassification, files, dropout, num_labels=len(LABELS), **names)
        if method == "lora":
            model = add_adapters(model, rank, alpha)
    if narrow and method == "lora":
        narrow_frozen(model)
    return SequenceNetwork(model, typed=not files.reads_left_to_right)


def with_dropout(kind: Any, files: ModelFiles, dropout: float, **options: Any) -> Any:
    """A model of a transformers class with its weights, for training, with this dropout in all its layers."""
    # Eager attention: torch's fused one has no fast way in bfloat16 on processors, where it takes half of the time.
    model = from_pretrained(kind, files, dtype=torch.float32, attn_implementation="eager", **options)
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = dropout
    return model


def narrow_frozen(network: torch.nn.Module) -> None:
    """Keep frozen weights in bfloat16."""
    for parameter in network.parameters():
        if not parameter.requires_grad:
            parameter.data = parameter.data.to(torch.bfloat16)


def arithmetic(device: torch.device, dtype: str) -> AbstractContextManager[Any]:
    """The context in which a network runs: autocast for bfloat16, nothing for float32."""
    return torch.autocast(device.type, torch.bfloat16) if dtype == "bfloat16" else nullcontext()


def pad_of(files: ModelFiles) -> int:
    """The id that pads a batch; any id will do, since padding is masked."""
    return int(files.config.get("pad_token_id") or 0)


def batch_inputs(
    pairs: EncodedPairs, where: Ids | Sequence[int], pad: int, device: torch.device
) -> dict[str, torch.Tensor]:
    """The inputs of a network for some pairs, padded to the longest of them."""
    return padded([pairs.ids[i] for i in where], [pairs.types[i] for i in where], pad, device)


def padded(rows: Sequence[Ids], types: Sequence[Ids] | None, pad: int, device: torch.device) -> dict[str, torch.Tensor]:
    """The inputs of a network for some sequences, padded to the longest of them; types are 0 where none are given."""
    ids = np.full((len(rows), max(len(row) for row in rows)), pad, dtype=np.int64)
    mask, kinds = np.zeros_like(ids), np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)], mask[i, : len(row)] = row, 1
        if types is not None:
            kinds[i, : len(row)] = types[i]
    inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": kinds}
    return {name: torch.from_numpy(array).to(device) for name, array in inputs.items()}


def probabilities(
    network: torch.nn.Module, pairs: EncodedPairs, pad: int, dtype: str, advance: Advance = lambda count: None
) -> np.ndarray:
    """The probabilities that a network gives each pair, in the order of `LABELS`: float64, shape (n, 3)."""
    from nlgauge.runtime.runtime import by_length

    device = next(network.parameters()).device
    probable = np.zeros((len(pairs.ids), len(LABELS)))
    training = network.training
    network.eval()
    with torch.inference_mode(), arithmetic(device, dtype):
        for where in by_length(pairs.lengths, _EVALUATION_TOKENS):
            logits = network(**batch_inputs(pairs, where, pad, device))
            probable[where] = torch.softmax(logits.double(), dim=1).cpu().numpy()
            advance(len(where))
    network.train(training)
    return probable


# --- Trained heads as files: a small safetensors file beside the embedded encoder, or a transformers folder

FORMAT, VERSION, KIND = "nlgauge-head", "1", "nli"
_TOKENIZER = ("*token*.json", "vocab*", "merges*", "*.model", "*.spm")


def save_head(path: str | os.PathLike[str], network: HeadNetwork, about: Mapping[str, str]) -> None:
    """Write a head, whole or not at all.

    Args:
        path: a .safetensors file.
        network: the trained network.
        about: more metadata; all values are strings.
    """
    tensors = adapter_tensors(network.encoder) | network.own_tensors()
    write_head(path, tensors, {"labels": ",".join(LABELS), "features": FEATURES, **about})


def head_metadata(
    kind: str, recipe: Recipe, files: ModelFiles, dtype: str, about: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The metadata of every head: its kind, its encoder, limits of its recipe, and what its maker adds.

    Args:
        kind: of the head.
        recipe: how it was trained.
        files: of its encoder.
        dtype: the precision in which it was trained, which `auto` takes from the device.
        about: what its maker adds.
    """
    fixed = {
        "format": FORMAT,
        "version": VERSION,
        "kind": kind,
        "encoder": recipe.model,
        "encoder_sha256": files.weights_digest,
        "max_tokens": str(recipe.max_tokens),
        "dtype": dtype,
    }
    if recipe.has_adapters:
        fixed["rank"] = str(recipe.rank)
    if recipe.revision is not None:
        fixed["encoder_revision"] = recipe.revision
    return {"name": "", "recipe": "", "data": "", **(about or {}), **fixed}


def write_head(path: str | os.PathLike[str], tensors: Mapping[str, torch.Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors and metadata as a safetensors file, whole or not at all; the same weights make the same bytes."""
    with replacing(path, "wb") as file:
        file.write(_in_order(save(dict(tensors), dict(metadata))))


def narrowed(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors of a head with its adapters in whole numbers of 8 bits, each row with a scale: half of the bytes.

    A number of a row is off by 0.4 % of the largest one at most; see `nlgauge.models.heads.Head`.
    """
    found = {}
    for name, tensor in tensors.items():
        if ".lora_" not in name:
            found[name] = tensor
            continue
        wide = tensor.float()
        scale = (wide.abs().amax(dim=1, keepdim=True) / 127).clamp(min=torch.finfo(torch.float32).tiny)
        found[name] = torch.round(wide / scale).to(torch.int8).contiguous()
        found[f"{name}_scale"] = scale.contiguous()
    return found


def _in_order(data: bytes) -> bytes:
    """A safetensors file with a sorted header, so that the same weights make the same bytes."""
    size = int.from_bytes(data[:8], "little")
    header = json.dumps(
        json.loads(data[8 : 8 + size]), sort_keys=True, ensure_ascii=False, separators=(",", ":")
    ).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data[8 + size :]


def begin_from(path: str | os.PathLike[str], network: HeadNetwork, files: ModelFiles) -> None:
    """Load the weights of an earlier head into a network.

    Args:
        path: the head.
        network: the network, whose encoder is that of `files`.
        files: the files of the encoder, which the head must have been made for.

    Raises:
        InputError: the file is not a head of this kind, is one for another encoder, or has another shape.
    """
    try:
        with safe_open(os.fspath(path), framework="pt") as file:
            about: dict[str, str] = file.metadata() or {}
            tensors: dict[str, torch.Tensor] = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
    except Exception as error:
        raise InputError(
            f"{os.fspath(path)}: no safetensors file that can be read ({str(error).splitlines()[0]})"
        ) from None
    if (about.get("format"), about.get("kind"), about.get("features")) != (FORMAT, KIND, FEATURES) or about.get(
        "labels"
    ) != ",".join(LABELS):
        raise InputError(f"{os.fspath(path)} is no NLI head as 'nlgauge train nli' writes them; name one")
    if about.get("encoder_sha256") != files.weights_digest:
        raise InputError(
            f"{os.fspath(path)} was made for weights with SHA-256 {about.get('encoder_sha256')}, expected"
            f" {files.weights_digest} of model {files.name!r}; begin from a head on the same encoder"
        )
    tensors = widened(tensors, Path(path))
    set_adapters(network.encoder, tensors)
    with torch.no_grad():
        network.classifier.weight.copy_(tensors["classifier.weight"])
        network.classifier.bias.copy_(tensors["classifier.bias"])


def check_output(output: str, method: str) -> None:
    """Refuse an output that cannot be written, or that cannot hold what a method changes.

    Args:
        output: a `.safetensors` name for a head, any other name for a folder.
        method: `full` changes the whole encoder; other methods leave it as it is.

    Raises:
        InputError: for such an output.
    """
    if not output.endswith(".safetensors"):
        check_folder(output)
        return
    check_target(output)
    if method == "full":
        raise InputError(
            f"{output}: a head holds adapters, method full changes everything; name a folder (no .safetensors) for the"
            " model"
        )


def check_folder(path: str | os.PathLike[str]) -> None:
    """Refuse a folder that cannot be created, or that is not empty.

    Raises:
        InputError: for such a folder.
    """
    target = Path(path)
    if os.path.exists(target) and (not target.is_dir() or any(target.iterdir())):
        raise InputError(
            f"{target} is there already, expected a new folder for the model; name another, or end the name in"
            " .safetensors for a head"
        )
    if not os.path.exists(target):
        check_target(target)


@contextmanager
def new_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A folder that takes its final name only when everything in it is written; after an error nothing is left.

    Raises:
        InputError: as in `check_folder`; or the disk is full.
    """
    check_folder(path)
    target = Path(path)
    try:
        draft = Draft(os.fspath(target.resolve()), is_folder=True)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from None
    beside = Path(draft.path)
    try:
        yield beside
        umask = os.umask(0)
        os.umask(umask)
        beside.chmod(0o777 & ~umask)
        if target.exists():
            target.rmdir()
        os.replace(beside, target)
    except OSError as error:
        raise InputError(f"cannot write {target}: {error.strerror or error}") from None
    finally:
        draft.discard()


def save_encoder(folder: Path, model: Any, files: ModelFiles) -> None:
    """Write a model as transformers reads it, with the tokenizer of the files it began from.

    Adapters are merged into the weights.
    """
    if hasattr(model, "merge_and_unload"):
        model = model.float().merge_and_unload()
    model.save_pretrained(str(folder), safe_serialization=True)
    for path in (path for pattern in _TOKENIZER for path in files.folder.glob(pattern)):
        shutil.copy(path, folder)


def save_folder(path: str | os.PathLike[str], network: SequenceNetwork, files: ModelFiles) -> None:
    """Write a classifier as transformers reads it, with the encoder's tokenizer; whole or not at all.

    Adapters are merged into the weights.
    """
    with new_folder(path) as folder:
        save_encoder(folder, network.model, files)


# --- Your own NLI model: read, train, evaluate, save


@dataclass(frozen=True)
class Accuracy:
    """How often a model predicts the label of a test set.

    Attributes:
        name: the name of the file.
        n: the number of pairs.
        accuracy: the share of labels predicted correctly.
        two_way: the share of pairs for which entailment is told from the other labels correctly.
        recall: for each label, the share of its pairs predicted correctly; NaN where there are none.
    """

    name: str
    n: int
    accuracy: float
    two_way: float
    recall: tuple[float, ...]


@alone
def train_nli(
    train: Sequence[InputFile],
    output: str,
    recipe: NliRecipe,
    runtime: Runtime,
    *,
    dev: Sequence[InputFile] = (),
    test: Sequence[InputFile] = (),
    about: Mapping[str, str] | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> list[Accuracy]:
    """Train on labelled pairs, write the model, and evaluate it.

    Args:
        train: JSON lines files of premise, hypothesis and label.
        output: a `.safetensors` name for a head (embedded encoder, adapters), any other name for a folder that
            transformers reads.
        recipe: what is trained, and how.
        runtime: device, precision (bfloat16 or float32) and progress.
        dev: files to evaluate on after each pass.
        test: files to evaluate on at the end.
        about: more metadata of a head: name, recipe, data, trained_on_phenomena.
        tell: called with lines about the progress.

    Returns:
        The accuracy on each test file.

    Raises:
        InputError: files, labels or outputs are not usable; also what `locate` raises.
        MissingExtra: torch or peft is not installed.
    """
    _nli_check(recipe, runtime, output)
    files = trainable(locate(recipe.model, recipe.revision), runtime, recipe.method)
    tokenizer = PairTokenizer(files, recipe.max_tokens)
    sets = {file.name: encode_pairs(read_pairs(file), tokenizer) for file in (*train, *dev, *test)}
    pairs = _joined([sets[file.name] for file in train])
    tell(f"{len(pairs.ids)} pairs, {pairs.lengths.mean():.1f} tokens each, {pairs.n_cut} cut, in {runtime.dtype}")
    device, is_head = torch_device(torch, runtime.device), output.endswith(".safetensors")
    network = _network(recipe, files, is_head, runtime.dtype == "bfloat16").to(device).train()
    pad, labels = pad_of(files), torch.from_numpy(pairs.labels).to(device)

    def loss(where: np.ndarray) -> torch.Tensor:
        with arithmetic(device, runtime.dtype):
            logits = network(**batch_inputs(pairs, where, pad, device))
        return torch.nn.functional.cross_entropy(logits, labels[torch.from_numpy(where).to(device)])

    def measure(file: InputFile) -> Accuracy:
        return accuracy(file.name, probabilities(network, sets[file.name], pad, runtime.dtype), sets[file.name].labels)

    def after(epoch: int) -> None:
        for file in dev:
            tell(f"pass {epoch}: {Path(file.name).name} {measure(file).accuracy:.4f}")

    checkpoint = Checkpoint.beside(output, run_line(train, recipe, runtime, files))
    fit_network(network, loss, pairs.lengths, recipe.schedule, checkpoint, runtime, after)
    accuracies = [measure(file) for file in test]
    _save(output, network, recipe, files, runtime.dtype, about)
    checkpoint.done()
    return accuracies


def accuracy(name: str, probable: np.ndarray, labels: np.ndarray) -> Accuracy:
    """How probabilities, shape (n, 3), agree with labels, shape (n,)."""
    said = probable.argmax(1)
    recall = tuple(
        float(np.mean(said[labels == i] == i)) if np.any(labels == i) else float("nan") for i in range(len(LABELS))
    )
    return Accuracy(
        name, len(labels), float(np.mean(said == labels)), float(np.mean((said == 0) == (labels == 0))), recall
    )


def _nli_check(recipe: NliRecipe, runtime: Runtime, output: str) -> None:
    check_precision(runtime)
    check_output(output, recipe.method)
    if recipe.init is not None and not output.endswith(".safetensors"):
        raise InputError("a head to begin from goes with a head to write; end the output's name in .safetensors")


def _save(
    output: str,
    network: HeadNetwork | SequenceNetwork,
    recipe: NliRecipe,
    files: ModelFiles,
    dtype: str,
    about: Mapping[str, str] | None,
) -> None:
    if isinstance(network, HeadNetwork):
        metadata = head_metadata(KIND, recipe, files, dtype, about)
        save_head(output, network, {"trained_on_phenomena": "", **metadata})
    else:
        save_folder(output, network, files)


def _network(recipe: NliRecipe, files: ModelFiles, is_head: bool, narrow: bool) -> HeadNetwork | SequenceNetwork:
    """A head's network, which may begin from an earlier head, or a whole classifier."""
    seed = recipe.schedule.seed
    if not is_head:
        return sequence_network(files, recipe.method, recipe.rank, recipe.alpha, recipe.dropout, seed, narrow)
    network = head_network(files, recipe.rank, recipe.alpha, recipe.dropout, seed, narrow)
    if recipe.init is not None:
        begin_from(recipe.init, network, files)
    return network


def _joined(parts: Sequence[EncodedPairs]) -> EncodedPairs:
    ids, types = [row for part in parts for row in part.ids], [row for part in parts for row in part.types]
    return EncodedPairs(ids, types, np.concatenate([part.labels for part in parts]), sum(part.n_cut for part in parts))
