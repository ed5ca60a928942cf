"""A hub of models on loopback: what it serves is folders, and what is asked of it is counted."""

import hashlib
import json
import shutil
import threading
import urllib.parse
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from nlgauge.models import repository

MOVED = {  # names that are redirected
    "roberta-large": "FacebookAI/roberta-large",
    "xlm-roberta-large": "FacebookAI/xlm-roberta-large",
    "bert-base-chinese": "google-bert/bert-base-chinese",
    "bert-base-multilingual-cased": "google-bert/bert-base-multilingual-cased",
}
GATED = "gated/model"
_LARGE = (".safetensors", ".bin", ".ckpt", ".h5")  # files that lie elsewhere, to which the hub redirects


class Hub:
    """Folders as repositories, OWNER--NAME, and below `revisions` other commits.

    Attributes:
        asked: verb and path of every request.
        sent: name and bytes of each file that was downloaded.
        breaks: names of files at whose half the connection ends.
        breaks_once: whether it ends there but once.
    """

    def __init__(self, root):
        self.root, self.asked, self.sent, self.breaks, self.breaks_once = root, [], [], set(), False

    def put(self, name, source, files=(), revision=None):
        """Serve a copy of a folder, with more files that hold nothing."""
        folder = self.root / name.replace("/", "--")
        folder = folder / "revisions" / revision.replace("/", "_") if revision else folder
        shutil.copytree(source, folder)
        for file in files:
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(b"x" * 1000)
        return folder

    def commits(self, name):
        """Revision -> its folder, by name and by commit."""
        folder = self.root / name.replace("/", "--")
        found = {"main": folder}
        if (folder / "revisions").is_dir():
            found |= {one.name.replace("_", "/", 2): one for one in (folder / "revisions").iterdir()}
        return found | {hashlib.sha1(str(one).encode()).hexdigest(): one for one in list(found.values())}

    def commit(self, name, revision="main"):
        """The commit of a revision."""
        return hashlib.sha1(str(self.commits(name)[revision]).encode()).hexdigest()

    def files(self):
        """The files that were downloaded."""
        return [name for name, _ in self.sent]

    def forget(self):
        """What was asked, and what this process knows of models that it found, as if another one began."""
        self.asked.clear()
        self.sent.clear()
        for found in (repository.snapshot, repository.setup, repository.checkpoint):
            found.cache_clear()


@contextmanager
def serving(folder, patch):
    """A hub, which the client of this process asks, with an empty cache in a folder.

    Args:
        folder: where repositories, the cache and what is made of models lie.
        patch: pytest's `monkeypatch`.
    """
    from huggingface_hub import constants

    hub = Hub(folder / "hub")

    class Answer(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def say(self, code, body=b"", **headers):
            self.send_response(code)
            for key, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(key.replace("_", "-"), value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def do_HEAD(self):
            self.do_GET()

        def do_GET(self):
            path = urllib.parse.unquote(urllib.parse.urlparse(self.path).path)
            hub.asked.append((self.command, path))
            if path.startswith("/stored/"):
                return self.send(hub.root / path.removeprefix("/stored/"))
            asks = path.startswith("/api/models/")
            name, _, rest = (path[12:].replace("/tree/", "/revision/") if asks else path[1:]).partition(
                "/revision/" if asks else "/resolve/"
            )
            if name in MOVED:
                return self.say(307, Location=self.path.replace(name, MOVED[name], 1))
            if name == GATED:
                return self.say(403, X_Error_Code="GatedRepo", X_Error_Message="restricted")
            if not (hub.root / name.replace("/", "--")).is_dir():
                return self.say(401, X_Error_Code="RepoNotFound", X_Error_Message="not found")
            commits = hub.commits(name)
            revision = next((one for one in commits if rest == one or rest.startswith(f"{one}/")), None)
            revision = "main" if not rest else revision
            if revision is None:
                return self.say(404, X_Error_Code="RevisionNotFound", X_Error_Message="no such revision")
            inside = commits[revision]
            commit = hashlib.sha1(str(inside).encode()).hexdigest()
            if asks:
                return self.list(name, inside, commit, "/tree/" in path)
            file = inside / rest[len(revision) + 1 :]
            if not file.is_file():
                return self.say(404, X_Error_Code="EntryNotFound", X_Repo_Commit=commit)
            if file.suffix in _LARGE:
                about = {"X_Linked_Size": str(file.stat().st_size), "X_Linked_ETag": tag(file)}
                at = f"http://localhost:{server.server_port}/stored/{file.relative_to(hub.root)}"  # another host
                return self.say(302, Location=at, X_Repo_Commit=commit, **about)
            return self.send(file, X_Repo_Commit=commit)

        def list(self, name, inside, commit, as_tree):
            files = {str(one.relative_to(inside)): one for one in sorted(inside.rglob("*")) if one.is_file()}
            listed = {name: one for name, one in files.items() if not name.startswith("revisions")}
            if as_tree:
                kept = {"type": "file", "oid": "a" * 40}
                body = [{**kept, "path": one, "size": file.stat().st_size} for one, file in listed.items()]
            else:
                body = {"id": name, "sha": commit, "siblings": [{"rfilename": one} for one in listed]}
            return self.say(200, json.dumps(body).encode(), Content_Type="application/json")

        def send(self, file, **about):
            body = file.read_bytes()
            within = file.relative_to(hub.root).parts[1:]
            name = "/".join(within[2:] if within[0] == "revisions" else within)
            begin = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").partition("-")[0])
            breaks = self.command == "GET" and file.name in hub.breaks
            if self.command == "GET":
                hub.sent.append((name, len(body) // 2 if breaks else len(body[begin:])))
            if breaks:
                if hub.breaks_once:
                    hub.breaks.remove(file.name)
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body[: len(body) // 2])
                self.close_connection = True
                return None
            if begin:
                about["Content_Range"] = f"bytes {begin}-{len(body) - 1}/{len(body)}"
            return self.say(206 if begin else 200, body[begin:], ETag=tag(file), **about)

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        at = f"http://127.0.0.1:{server.server_port}"
        patch.setattr(constants, "ENDPOINT", at)
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", at + "/{repo_id}/resolve/{revision}/{filename}")
        patch.setattr(constants, "HF_HUB_CACHE", str(folder / "cache"))
        patch.setattr(constants, "HF_HUB_OFFLINE", False)
        patch.setenv("NLGAUGE_MODELS", str(folder / "store"))
        hub.environment = {"HF_ENDPOINT": at, "HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "0"}
        hub.environment |= {"HF_HUB_CACHE": str(folder / "cache"), "NLGAUGE_MODELS": str(folder / "store")}
        hub.forget()
        yield hub
        hub.forget()
        server.shutdown()


def tag(file):
    """What tells contents apart; of large files the digest of LFS."""
    kind = hashlib.sha256 if file.suffix in _LARGE else hashlib.sha1
    return f'"{kind(file.read_bytes()).hexdigest()}"'


def pickled(source, folder, zipped=True, shards=0):
    """A copy of a model with its weights as pickles, as older repositories have them."""
    import torch
    from safetensors.torch import load_file

    shutil.copytree(source, folder)
    weights = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    # as checkpoints before 2019 call the parts of a norm
    old = {
        n.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): t
        for n, t in weights.items()
    }
    if not shards:
        torch.save(old, folder / "pytorch_model.bin", _use_new_zipfile_serialization=zipped)
        return folder
    where = {}
    for part in range(shards):
        file = f"pytorch_model-{part + 1:05}-of-{shards:05}.bin"
        mine = {name: old[name] for name in list(old)[part::shards]}
        torch.save(mine, folder / file, _use_new_zipfile_serialization=zipped)
        where |= dict.fromkeys(mine, file)
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps({"metadata": {}, "weight_map": where}))
    return folder
