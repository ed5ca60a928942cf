"""A file in four bits becomes files of our own: worked by hand on a small one, and tokens as the library reads them."""

from __future__ import annotations

import hashlib
import json
import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nlgauge.models import narrow

torch = pytest.importorskip("torch")
tokenizers = pytest.importorskip("tokenizers")
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "a", "b", "▁a", "é", "<mask>"]
SCORES = [0, 0, 0, 0, -2, -3, -3, -2.5, -4, 0]
RULES = {"\t": " ", "ｂ": "b", "\u200b": ""}


def small(block=narrow.HALF * 2):
    """A file with one layer, as the reader wants it: 384 dimensions, 10 pieces."""
    text = "".join(PIECES).encode()
    offsets = np.cumsum([0, *(len(piece.encode()) for piece in PIECES)])
    head = struct.pack("<4sI7ifi", b"E5S1", 1, 384, 1, 12, 1536, 10, 4, 2, 1e-12, block)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(text))
    head += offsets.astype("<u4").tobytes() + np.array(SCORES, dtype="<f4").tobytes() + text
    rules = b"".join(struct.pack(f"<IB{len(new)}I", ord(old), len(new), *map(ord, new)) for old, new in RULES.items())
    head += struct.pack("<iI", len(RULES), len(rules)) + rules
    rng = np.random.default_rng(0)
    tensors = {"emb.word": (1, 10, 384), "emb.pos": (0, 4, 384), "emb.type": (0, 2, 384)}
    tensors |= {f"emb.ln.{end}": (0, 1, 384) for end in "wb"}
    for part, shape in {"q": (384, 384), "k": (384, 384), "v": (384, 384), "ao": (384, 384)}.items():
        tensors |= {f"l0.{part}.w": (1, *shape), f"l0.{part}.b": (0, 1, 384)}
    tensors |= {"l0.fi.w": (1, 1536, 384), "l0.fi.b": (0, 1, 1536), "l0.fo.w": (1, 384, 1536), "l0.fo.b": (0, 1, 384)}
    tensors |= {f"l0.{part}.{end}": (0, 1, 384) for part in ("aln", "oln") for end in "wb"}
    data = {}
    for name, (kind, rows, width) in tensors.items():
        if kind:
            scales = rng.uniform(0.001, 0.01, (rows, width // 32, 1)).astype("<f2").view("u1")
            halves = rng.integers(0, 256, (rows, width // 32, 16), dtype=np.uint8)
            data[name] = np.concatenate([scales, halves], axis=2).tobytes()
        else:
            data[name] = rng.normal(0, 0.1, (rows, width)).astype("<f4").tobytes()
    listed, at = b"", len(head) + 4 + sum(23 + len(name) for name in tensors)
    for name, (kind, rows, width) in tensors.items():
        listed += struct.pack(f"<H{len(name)}sBIQQ", len(name), name.encode(), kind, rows * width, at, len(data[name]))
        at += len(data[name])
    return head + struct.pack("<i", len(tensors)) + listed + b"".join(data.values()), data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("narrow")
    content, _ = small()
    (place / "small.bin").write_bytes(content)
    narrow.convert(place / "small.bin", place)
    return place


def test_weights_are_halves_less_eight_times_the_scale(folder):
    from safetensors.torch import load_file

    _, data = small()
    block = data["emb.word"][: 2 + 16]
    scale = float(np.frombuffer(block[:2], "<f2")[0])
    by_hand = [scale * ((byte & 15) - 8) for byte in block[2:]] + [scale * ((byte >> 4) - 8) for byte in block[2:]]
    from nlgauge.models.packing import NarrowRows

    tensors = load_file(folder / "model.safetensors")
    name = "embeddings.word_embeddings.weight"
    rows = NarrowRows(tensors[name + narrow.BYTES], tensors[name + narrow.SCALES], torch.float64)
    assert rows.shape == (10, 384)
    assert rows.rows(torch.tensor([0]))[0, :32].tolist() == pytest.approx(by_hand, abs=1e-9)  # products in float32
    assert torch.equal(rows.rows(torch.tensor([7, 2])), rows.rows(torch.arange(10))[[7, 2]])


def test_the_network_reads_what_a_wide_copy_reads(folder, tmp_path):
    """The same numbers saved as BERT's give the same vectors, the table of pieces narrow or not."""
    from safetensors.torch import load_file, save_file

    from nlgauge.models.locate import ModelFiles
    from nlgauge.models.packing import NarrowRows, PackedBert

    tensors = load_file(folder / "model.safetensors")
    wide = {name: tensor for name, tensor in tensors.items() if not name.endswith((narrow.BYTES, narrow.SCALES))}
    for name in tensors:
        if name.endswith(narrow.BYTES):
            plain = name.removesuffix(narrow.BYTES)
            rows = NarrowRows(tensors[name], tensors[plain + narrow.SCALES], torch.float32)
            wide[plain] = rows.rows(torch.arange(len(rows))).contiguous()
    save_file(wide, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text((folder / "config.json").read_text())
    texts = [np.array([0, 5, 2]), np.array([0, 7, 6, 2])]
    found = []
    for place in (folder, tmp_path):
        network = PackedBert(ModelFiles("x", place, ""), torch.float32, torch.device("cpu"))
        with torch.inference_mode(), network.cut(1) as forward:
            found.append(forward(texts))
    assert torch.equal(*found)


def test_transformers_gets_the_same_weights(folder):
    """Training and models of the hub load by transformers, which does not know matrices in four bits."""
    transformers = pytest.importorskip("transformers")

    from nlgauge.models.hub import from_pretrained
    from nlgauge.models.locate import ModelFiles
    from nlgauge.models.packing import PackedBert

    files = ModelFiles("x", folder, "")
    model = from_pretrained(transformers.AutoModel, files, dtype=torch.float64).eval()
    network = PackedBert(files, torch.float64, torch.device("cpu"))
    with torch.inference_mode(), network.cut(1) as forward:
        packed = forward([np.array([0, 5, 2])])
        theirs = model(input_ids=torch.tensor([[0, 5, 2]])).last_hidden_state[0]
    torch.testing.assert_close(packed, theirs, rtol=0, atol=1e-8)


def test_texts_are_normalised_and_cut_into_pieces(folder):
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    assert tokenizer.encode("a\tｂ").tokens == ["<s>", "▁a", "▁", "b", "</s>"]
    assert tokenizer.encode("a\u200bb").tokens == ["<s>", "▁a", "b", "</s>"]
    assert tokenizer.encode("ae\u0301").tokens == ["<s>", "▁a", "é", "</s>"]  # composed first
    assert tokenizer.encode("z").ids == [0, 4, 3, 2]
    assert tokenizer.encode("a", "b").tokens == ["<s>", "▁a", "</s>", "</s>", "▁", "b", "</s>"]


@given(
    rules=st.dictionaries(st.characters(codec="utf-8", exclude_characters="\0"), st.text(max_size=3), min_size=1),
    text=st.text(max_size=20),
)
@example(rules=dict.fromkeys("3\x19\x18\x0f\r\x9f\xa0°îôࠀ𐀀\U00040000", ""), text="ß")
def test_the_double_array_says_what_the_rules_say(rules, text):
    rules = {old: new.replace("\0", "") for old, new in rules.items()}
    table = narrow.charsmap(rules)
    (size,) = struct.unpack_from("<I", table)
    units = np.frombuffer(table, "<u4", size // 4, 4).tolist()
    for character in {*rules, *text}:
        assert looked_up(units, table[4 + size :], character) == rules.get(character)


def looked_up(units, texts, character):
    """What a double array has for one character, as darts-clone reads it; None if nothing."""

    def away(unit):
        return (unit >> 10) << ((unit & (1 << 9)) >> 6)

    place = away(units[0])
    for byte in character.encode():
        place ^= byte
        if place >= len(units) or units[place] & (1 << 31 | 255) != byte:
            return None
        unit = units[place]
        place ^= away(unit)
    if not unit & (1 << 8):
        return None
    start = units[place] & ~(1 << 31)
    return texts[start : texts.index(b"\0", start)].decode()


def test_the_same_file_gives_the_same_bytes_and_another_form_is_refused(folder, tmp_path):
    narrow.convert(folder / "small.bin", tmp_path)
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "model.safetensors"):
        first, second = ((place / name).read_bytes() for place in (folder, tmp_path))
        assert hashlib.sha256(first).digest() == hashlib.sha256(second).digest()
    assert json.loads((folder / "config.json").read_text())["hidden_size"] == 384
    other, _ = small(block=64)
    (tmp_path / "other.bin").write_bytes(other)
    with pytest.raises(ValueError, match="blocks of 64"):
        narrow.convert(tmp_path / "other.bin", tmp_path)
