"""Files of torch.save, read without torch: the same tensors, nothing else, and nothing that starts."""

import builtins
import codecs
import ctypes
import functools
import hashlib
import importlib.util
import io
import itertools
import json
import math
import operator
import os
import pathlib
import pickle
import pickletools
import random
import runpy
import shutil
import socket
import struct
import subprocess
import threading
import time
import urllib.request
import webbrowser
import zipfile
from collections import OrderedDict

import pytest

import nlgauge as ng
from nlgauge.models.pickled import INDEX, _Machine, convert, converted, made_whole, read, sources_of

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors")

FORMS = pytest.mark.parametrize("zipped", [True, False], ids=["zip", "row"])


def save(content, path, zipped=True):
    torch.save(content, path, _use_new_zipfile_serialization=zipped)
    return path


def again(path, folder):
    """The tensors of the safetensors made of a file, and what its metadata says."""
    convert({"model.safetensors": path}, folder, {"repository": "owner/name", "commit": "abc"})
    with safetensors.safe_open(folder / "model.safetensors", "pt") as file:
        facts = file.metadata()
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a mapping
    return tensors, facts


def state():
    weights = torch.arange(35, dtype=torch.float32).reshape(5, 7)
    return OrderedDict(
        weights=weights,
        tied=weights,
        part=weights[1:3],
        column=weights[:, 2],
        turned=weights.t(),
        parameter=torch.nn.Parameter(torch.ones(2, 2)),
        scalar=torch.tensor(3.5),
        empty=torch.zeros(0, 3),
        positions=torch.arange(6).expand(1, -1),
        half=torch.ones(3).half(),
        brain=torch.ones(2, 4).bfloat16(),
        double=torch.ones(3).double(),
        whole=torch.tensor([[1, -2]], dtype=torch.int32),
        small=torch.tensor([-1], dtype=torch.int8),
        byte=torch.tensor([255], dtype=torch.uint8),
        short=torch.tensor([7], dtype=torch.int16),
        flags=torch.tensor([True, False]),
    )


@FORMS
@pytest.mark.parametrize(
    "inside", [lambda s: s, lambda s: {"state_dict": s, "epoch": 3, "hyper_parameters": {"a": [1]}}]
)
def test_the_tensors_are_those_that_torch_reads(tmp_path, zipped, inside):
    path = save(inside(state()), tmp_path / "weights.bin", zipped)
    found, facts = again(path, tmp_path)
    assert json.loads(facts["tied"]) == {"tied": "weights"}
    expected = torch.load(path, weights_only=True)
    expected = expected.get("state_dict", expected)
    assert found.keys() == expected.keys() - {"tied"}
    for name, tensor in found.items():
        assert tensor.dtype == expected[name].dtype
        assert torch.equal(tensor, expected[name]), name


@FORMS
def test_the_file_says_what_it_came_from(tmp_path, zipped):
    path = save(state(), tmp_path / "weights.bin", zipped)
    _, facts = again(path, tmp_path)
    assert facts["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (facts["repository"], facts["commit"], facts["file"]) == ("owner/name", "abc", "weights.bin")


def test_a_state_of_modules_with_versions_is_read(tmp_path):
    # its OrderedDict has an attribute `_metadata`, which a pickle sets by BUILD
    path = save(torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.LayerNorm(2)).state_dict(), tmp_path / "w.bin")
    assert set(read(path).tensors) == {"0.weight", "0.bias", "1.weight", "1.bias"}


def test_an_ordered_dictionary_of_python_2_is_read(tmp_path):
    # it is made by one call with a list of pairs; torch of 2019 wrote these under Python 2
    path = save({"a": torch.ones(2)}, tmp_path / "w.bin", zipped=False)
    found = read(path).tensors["a"]
    assert (found.dtype, found.shape, found.nbytes) == ("F32", (2,), 8)
    listed = b"\x80\x02ccollections\nOrderedDict\n]](X\x01\x00\x00\x00aK\x01ea\x85R."
    assert _Machine({}).run(io.BytesIO(listed)) == {"a": 1}


def test_what_came_after_the_weights_is_taken_too(tmp_path):
    folder, target = tmp_path / "model", tmp_path / "twin"
    folder.mkdir()
    save({"a": torch.ones(2)}, folder / "pytorch_model.bin")
    (folder / "config.json").write_text("{}")
    assert sorted(path.name for path in converted(folder, target, {}).iterdir()) == ["config.json", "model.safetensors"]
    (folder / "tokenizer.json").write_text("{}")
    assert (converted(folder, target, {}) / "tokenizer.json").is_file()


def test_one_thread_makes_a_folder_and_the_other_waits(tmp_path):
    target, begun, made = tmp_path / "twin", threading.Event(), []

    def make(beside):
        begun.set()
        time.sleep(0.2)  # for the other to begin
        (beside / "config.json").write_text("{}")
        made.append(beside)

    first = threading.Thread(target=made_whole, args=(target, ["config.json"], make))
    first.start()
    assert begun.wait(10)
    made_whole(target, ["config.json"], make)
    first.join()
    assert (len(made), [path.name for path in target.iterdir()]) == (1, ["config.json"])


def test_what_a_killed_process_left_is_in_nobodys_way(tmp_path):
    target, left = tmp_path / "twin", tmp_path / f".twin.{os.getpid()}.part"
    left.mkdir()  # of a process with the number of this one, as in a container that starts again
    made_whole(target, ["config.json"], lambda beside: (beside / "config.json").write_text("{}"))
    assert (target / "config.json").is_file()
    assert not left.exists()


def test_shards_become_shards(tmp_path):
    names = [f"pytorch_model-0000{n}-of-00002.bin" for n in (1, 2)]
    save({"a": torch.ones(2)}, tmp_path / names[0])
    save({"b": torch.zeros(3)}, tmp_path / names[1], zipped=False)
    (tmp_path / INDEX).write_text(json.dumps({"weight_map": {"a": names[0], "b": names[1]}}))
    (tmp_path / "config.json").write_text("{}")
    made = converted(tmp_path, tmp_path / "made" / "twin", {})
    index = json.loads((made / "model.safetensors.index.json").read_text())
    assert index["weight_map"] == {
        "a": "model-00001-of-00002.safetensors",
        "b": "model-00002-of-00002.safetensors",
    }
    assert sorted(path.name for path in made.iterdir()) == [
        "config.json",
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
        "model.safetensors.index.json",
    ]
    assert not list((tmp_path / "made").glob(".*.part"))  # nothing half made beside it


@pytest.mark.parametrize("named", ["../w.bin", "/etc/passwd", "absent.bin", 7, ["a"]])
def test_an_index_names_files_beside_it_alone(tmp_path, named):
    (tmp_path / INDEX).write_text(json.dumps({"weight_map": {"a": named}}))
    with pytest.raises(ng.InputError, match=r"which is no file beside it|is no index of shards"):
        sources_of(tmp_path)


# --- Attacks: pickles that would start something, or take more than there is


class Calls:
    """What pickles as a call of a function with arguments."""

    def __init__(self, function, *given):
        self.call = function, given

    def __reduce__(self):
        return self.call


CALLS = [
    (os.system, "touch ran"),
    (os.popen, "touch ran"),
    (os.mkdir, "ran"),
    (os.remove, "w.bin"),
    (os.rename, "w.bin", "ran"),
    (os.open, "ran", os.O_CREAT),
    (os.execv, "/bin/true", ["true"]),
    (os.fork,),
    (os._exit, 0),
    (subprocess.Popen, ["touch", "ran"]),
    (subprocess.check_output, ["touch", "ran"]),
    (shutil.rmtree, "."),
    (shutil.copyfile, "w.bin", "ran"),
    (socket.create_connection, ("127.0.0.1", 9)),
    (urllib.request.urlopen, "http://127.0.0.1:9"),
    (importlib.import_module, "antigravity"),
    (importlib.util.find_spec, "antigravity"),
    (runpy.run_path, "w.bin"),
    (ctypes.CDLL, "libc.so.6"),
    (webbrowser.open, "http://127.0.0.1:9"),
    (builtins.__import__, "antigravity"),
    (eval, "open('ran', 'w')"),
    (exec, "open('ran', 'w')"),
    (compile, "1", "a", "eval"),
    (open, "ran", "w"),
    (input,),
    (breakpoint,),
    (getattr, "", "join"),
    (setattr, "", "a", 1),
    (print, "a"),
    (map, print, ("a",)),
    (bytearray, 1 << 40),
    (functools.partial, print),
    (functools.reduce, print, ["a", "b"]),
    (operator.attrgetter, "system"),
    (operator.methodcaller, "system"),
    (codecs.encode, "a", "utf-8"),
    (pickle.loads, b"."),
    (torch.load, "w.bin"),
    (torch.hub.load, "a", "b"),
    (torch.jit.load, "w.bin"),
    (torch._utils._rebuild_qtensor, 1),
    (pathlib.Path.touch, pathlib.PurePosixPath("ran")),
]


@FORMS
@pytest.mark.parametrize("call", CALLS, ids=[call[0].__qualname__ for call in CALLS])
def test_whatever_a_pickle_calls_is_refused_by_name(tmp_path, monkeypatch, zipped, call):
    monkeypatch.chdir(tmp_path)
    trap, state = Calls(*call), OrderedDict(a=torch.ones(1))
    state._metadata = trap
    for content in (
        {"a": torch.ones(2), "b": trap},
        {"state_dict": {"a": [(trap,)]}},
        {"a": torch.ones(1), trap: 1},
        state,
    ):
        path = save(content, tmp_path / "w.bin", zipped)
        with pytest.raises(ng.InputError, match=r"names '[\w.]+', which is no tensor"):
            read(path)
        assert [left.name for left in tmp_path.iterdir()] == ["w.bin"]


def archive(path, pickled, storages=None, **options):
    """An archive as torch.save makes it, of a pickle by hand."""
    with zipfile.ZipFile(path, "w", **options) as file:
        file.writestr("archive/data.pkl", pickled)
        for key, content in (storages or {}).items():
            file.writestr(f"archive/data/{key}", content)
    return path


def assembled(code):
    """A pickle of one tensor, before whose end stand other steps."""
    return b"\x80\x02" + code + b"."


STEPS = sorted(pickletools.opcodes, key=lambda step: step.code)


@pytest.mark.parametrize("step", STEPS, ids=[step.name for step in STEPS])
def test_every_step_of_a_pickle_is_followed_or_refused(tmp_path, step):
    """Each opcode with arguments of four kinds, on an empty and on a full stack: a value or one line."""
    for given, before in itertools.product(
        (b"", b"\x01" * 40, b"os system\n", b"os\nsystem\n"), (b"", b"K\x01K\x02(K\x03")
    ):
        path = archive(tmp_path / "w.bin", assembled(before + step.code.encode("latin-1") + given))
        with pytest.raises(ng.InputError) as told:
            read(path)
        assert "\n" not in str(told.value)


def tensor_by_hand(*, numel=4, offset=0, shape=(4,), stride=(1,), key="0", kind="FloatStorage", stored=16):
    """A pickle of one tensor, every number of which can lie; and its storage."""

    def number(value):
        encoded = pickle.encode_long(value)
        return b"\x8a" + bytes([len(encoded)]) + encoded if value >= 0 and len(encoded) < 256 else b"I%d\n" % value

    def row(values):
        return b"(" + b"".join(map(number, values)) + b"t"

    name = b"X" + struct.pack("<I", len(key)) + key.encode()
    storage = (
        b"(X\x07\x00\x00\x00storagectorch\n" + kind.encode() + b"\n" + name + b"X\x03\x00\x00\x00cpu" + number(numel)
    )
    code = b"}X\x01\x00\x00\x00actorch._utils\n_rebuild_tensor_v2\n(" + storage + b"tQ"
    code += number(offset) + row(shape) + row(stride) + b"\x89NtRs"
    return assembled(code), {key: b"\0" * stored}


def test_a_tensor_by_hand_is_read(tmp_path):
    path = archive(tmp_path / "w.bin", *tensor_by_hand())
    assert again(path, tmp_path)[0]["a"].tolist() == [0, 0, 0, 0]


LIES = {
    "shape": {"shape": (5,)},
    "huge shape": {"shape": (1 << 60,), "stride": (0,)},
    "repeated by a step of 0": {"shape": (1 << 20,), "stride": (0,)},
    "product over all bounds": {"shape": (1 << 61,) * 40, "stride": (1,) * 40},
    "many sides": {"shape": (1,) * 65, "stride": (1,) * 65},
    "step": {"stride": (2,)},
    "negative step": {"stride": (-1,), "offset": 3},
    "offset": {"offset": 1},
    "negative offset": {"offset": -1},
    "numbers that are not there": {"numel": 8},
    "fewer numbers than there are": {"numel": 2, "shape": (2,)},
    "shape and step of other lengths": {"shape": (2, 2)},
    "a path as a key": {"key": "../../../../etc/passwd", "stored": 15},
    "another kind": {"kind": "DoubleStorage"},
    "a kind that is none": {"kind": "Size"},
}


@pytest.mark.parametrize("lie", LIES)
def test_sizes_that_lie_are_refused(tmp_path, lie):
    path = archive(tmp_path / "w.bin", *tensor_by_hand(**LIES[lie]))
    with pytest.raises(ng.InputError, match=r"w\.bin (is damaged|has)"):
        read(path)


def test_packed_members_are_refused(tmp_path):
    pickled, storages = tensor_by_hand(numel=1 << 20, shape=(1 << 20,), stored=1 << 22)
    path = archive(tmp_path / "w.bin", pickled, storages, compression=zipfile.ZIP_DEFLATED)
    with pytest.raises(ng.InputError, match="has packed members"):
        read(path)


def test_tensors_that_share_one_storage_do_not_fill_the_disk(tmp_path):
    one = torch.zeros(1000)
    content = {f"t{start}": one[start : start + 900] for start in range(100)}
    path = save(content, tmp_path / "w.bin")
    with pytest.raises(ng.InputError, match="tensors that overlap"):
        convert({"model.safetensors": path}, tmp_path, {})
    assert not (tmp_path / "model.safetensors").exists()


LIST = b"](" + b"K\x01K\x02\x86" * 10_000 + b"eq\x00"


@pytest.mark.parametrize(
    "code",
    [
        b"]" * 30_000 + b"a" * 29_999,  # lists in lists
        b"(" * 30_000 + b"t" * 30_000,  # tuples in tuples
        b"N" + b"\x85" * 30_000,
        b"]" + b"2" * 9,  # DUP
        b"]q\x00" + b"h\x00h\x00\x86q\x00" * 200,  # 2 ** 200 references
        b"}" + b"".join(b"X\x01\x00\x00\x00a" + b"}" for _ in range(1000)) + b"s" * 1000,
        b"K\x01" * 2_000_001,  # more steps than any state has
        b"\x8b\xff\xff\xff\x7f",  # a number of 2 GB
        b"\x8d" + b"\xff" * 8,
        b"\x96" + b"\xff" * 8,
        b"V" + b"a" * 5000 + b"\n",
        b"I" + b"1" * 5000 + b"\n",
        b"L" + b"1" * 5000 + b"L\n",
        LIST + b"ccollections\nOrderedDict\nq\x01" + b"h\x01h\x00\x85R" * 20_000,  # one list, read 20,000 times
        LIST + b"ctorch\nSize\nq\x01" + b"h\x01h\x00\x85R" * 20_000,
        LIST + b"ccollections\nOrderedDict\n](" + b"h\x00" * 20_000 + b"e\x85R",
        b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpuK\x02"
        + (b"N" * 20_000 + b"tq\x00" + b"h\x00Q" * 20_000),
    ],
    ids=range(17),
)
def test_deep_long_and_endless_pickles_end(tmp_path, code):
    with pytest.raises(ng.InputError):
        read(archive(tmp_path / "w.bin", assembled(code)))


@pytest.mark.parametrize(
    "content",
    [b"", b"P", b"PK\x03\x04", b"\x80\x02}q\x00.", b"version https://git-lfs.github.com/spec/v1\n", b"\0" * 100],
)
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "w.bin"
    path.write_bytes(content)
    with pytest.raises(ng.InputError, match=r"w\.bin (is no file of torch\.save|is damaged)"):
        read(path)


@FORMS
def test_damaged_files_give_a_value_or_one_line(tmp_path, zipped):
    """Bytes changed, cut and moved, more often where the pickle is; with NLGAUGE_SLOW=1, 2,000 files a form."""
    sound = save(state(), tmp_path / "w.bin", zipped).read_bytes()
    draws = random.Random(f"damage:{zipped}")
    path, target = tmp_path / "damaged.bin", tmp_path / "model.safetensors"
    refused = []
    for _ in range(2000 if os.environ.get("NLGAUGE_SLOW") else 200):
        damaged = bytearray(sound)
        for _ in range(draws.choice((1, 1, 2, 8))):
            place = draws.randrange(len(damaged))
            match draws.randrange(4):
                case 0:
                    damaged[place] ^= 1 << draws.randrange(8)
                case 1:
                    damaged[place] = draws.randrange(256)
                case 2:
                    del damaged[place : place + draws.choice((1, 4, 1000))]
                case _:
                    damaged[place:place] = damaged[place // 2 : place // 2 + 8]
            if not damaged:
                damaged = bytearray(b"\0")
        path.write_bytes(damaged)
        try:
            convert({target.name: path}, tmp_path, {})
        except ng.InputError as error:
            refused.append(str(error))
        else:
            with safetensors.safe_open(target, "pt") as file:
                assert all(math.prod(file.get_tensor(name).shape) <= 36 for name in file.keys())  # noqa: SIM118
    assert len(refused) > 50  # a test that damages too little shows nothing
    assert all("\n" not in line and len(line) < 600 for line in refused)
