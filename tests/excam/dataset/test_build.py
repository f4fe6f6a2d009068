from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from excam.dataset.build import Built, build
from excam.dataset.duplicates import SIMILAR, components, essence, jaccard, shingles
from excam.dataset.gather import gather
from excam.dataset.profile import PROFILES, Profile
from excam.dataset.soft_file import SoftRow
from excam.fault import UserError
from excam.report import CulturalError, ErrorReport, Location, Severity, parse_report
from excam.span import locate

COLUMNS = (
    "sample_id item_id source task instruction output label severity report country language origin "
    "weight group twin_id"
)
Rows = dict[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def rows(built: Built) -> Rows:
    return {split: pq.read_table(built.folder / f"{split}.parquet").to_pylist() for split in ("train", "dev", "test")}


def test_the_files_have_the_columns_that_training_reads(built: Built, rows: Rows) -> None:
    for split in rows:
        assert " ".join(pq.read_schema(built.folder / f"{split}.parquet").names) == COLUMNS
        assert rows[split]
    assert len({row["sample_id"] for split in rows for row in rows[split]}) == sum(map(len, rows.values()))


def test_every_error_has_one_correct_twin_with_the_same_instruction(rows: Rows) -> None:
    for split in rows:
        twins: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows[split]:
            if row["label"] == "not_applicable":
                assert row["twin_id"] is None
            else:
                twins[row["twin_id"]].append(row)
        for pair in twins.values():
            assert sorted(row["label"] for row in pair) == ["correct", "error"]
            assert len({(row["instruction"], row["item_id"], row["task"]) for row in pair}) == 1


def test_other_wordings_put_the_twins_of_train_again_and_leave_dev_and_test_alone(
    small_sources: Path, small_profile: Profile, tmp_path: Path, rows: Rows
) -> None:
    build(small_sources, tmp_path, replace(small_profile, wordings=3), seed=3)
    again = {split: pq.read_table(tmp_path / f"{split}.parquet").to_pylist() for split in rows}
    assert (again["dev"], again["test"]) == (rows["dev"], rows["test"])

    def asked(found: list[dict[str, Any]]) -> Counter[tuple[str, str]]:
        return Counter((row["item_id"], row["task"]) for row in found if row["origin"] == "hard")

    assert asked(again["train"]) == Counter({key: 3 * count for key, count in asked(rows["train"]).items()})
    assert len({row["sample_id"] for row in again["train"]}) == len(again["train"])


def test_natural_wrong_answers_are_the_sources_own_on_the_same_questions_in_the_same_splits(
    small_sources: Path, small_profile: Profile, tmp_path: Path, rows: Rows
) -> None:
    built = build(small_sources, tmp_path, replace(small_profile, natural=True), seed=3)
    drawn = {split: pq.read_table(tmp_path / f"{split}.parquet").to_pylist() for split in rows}
    for split in rows:
        balanced = {row["item_id"] for row in rows[split] if row["origin"] == "hard"}
        natural = {row["item_id"] for row in drawn[split] if row["origin"] == "hard"}
        assert balanced <= natural, "balance gives up items, chance does not"
    assert drawn != rows
    assert json.loads((tmp_path / "build.json").read_text())["natural"] is True
    assert "drawn at random" in (built.folder / "card.md").read_text()


def test_label_severity_and_origin_follow_from_the_report(rows: Rows) -> None:
    for row in (row for split in rows for row in rows[split]):
        report = parse_report(row["report"])
        assert isinstance(report, ErrorReport)
        assert row["label"] == report.status.value
        assert (row["severity"] is not None) == (row["origin"] != "none") == (row["label"] == "error")
        for error in report.errors or ():
            assert error.severity.value == row["severity"]
            assert locate(error, row["instruction"], row["output"]).how == "exact"


def test_all_sources_tasks_and_origins_are_there(rows: Rows) -> None:
    train = rows["train"]
    assert {row["source"] for row in train} == {
        "assistant", "blend", "calmqa", "culturalbench", "epic", "exams", "globalopinionqa", "normad",
    }  # fmt: skip
    assert {row["origin"] for row in train} == {"hard", "soft-rule", "none"}
    assert {row["task"] for row in train} >= {"qa_options", "freeform_qa", "impersonation", "assistant"}


def test_no_question_is_in_two_splits_in_any_wording(small_sources: Path, rows: Rows) -> None:
    items = {item.item_id: item for item in gather(small_sources).items}
    texts = {
        split: {essence(items[row["item_id"]]) for row in rows[split] if row["item_id"] in items} for split in rows
    }
    component_of = components(items.values())
    for one, other in (("train", "dev"), ("train", "test"), ("dev", "test")):
        assert not {row["group"] for row in rows[one]} & {row["group"] for row in rows[other]}
        homes = [
            {component_of[row["group"]] for row in rows[split] if row["group"] in component_of}
            for split in (one, other)
        ]
        assert not homes[0] & homes[1]
        sets = [[shingles(text) for text in texts[split]] for split in (one, other)]
        assert max(jaccard(a, b) for a, b in product(*sets)) < SIMILAR


def test_ordinary_pairs_have_their_share_of_the_weight_and_weights_average_one(rows: Rows) -> None:
    train = rows["train"]
    assert sum(row["weight"] for row in train) / len(train) == pytest.approx(1)
    ordinary = sum(row["weight"] for row in train if row["label"] == "not_applicable") / len(train)
    assert 0.15 <= ordinary <= 0.2


def test_templates_are_spread_evenly_over_labels(rows: Rows) -> None:
    heads = Counter(
        (row["output"].split(":")[0][:12], row["label"]) for row in rows["train"] if row["source"] == "exams"
    )
    for head, label in list(heads):
        if label == "error":
            assert heads[head, "error"] == heads[head, "correct"] or head.startswith(("отговор", "Option", "option"))


def test_the_card_tells_counts_licences_and_what_is_missing(built: Built) -> None:
    card = (built.folder / "card.md").read_text()
    assert "| paper train |" in card
    assert "CC BY-NC-SA 4.0" in card
    assert "mango" in card.split("## Missing")[1]
    assert "Greece (GR)" in card
    assert "near-duplicates and translations were joined" in card
    assert built.account.gathered.missing == ["include", "mango", "nativqa", "culturall", "msqa"]


def test_items_that_gave_no_sample_are_counted(small_sources: Path, small_profile: Profile, tmp_path: Path) -> None:
    root = tmp_path / "sources"
    shutil.copytree(small_sources / "epic", root / "epic")
    (root / "msqa").mkdir()
    (root / "msqa" / "msqa.jsonl").write_text('{"id": 1, "language": "en", "question": "Who?", "answer": "She."}')
    full = build(root, tmp_path / "out", small_profile).account.unused()
    assert (full["epic"], full["msqa"]) == (0, 1)
    assert "| msqa | 0 | 0 | 0 | 0 | 0 | 1 | 1 | – |" in (tmp_path / "out" / "card.md").read_text()
    paper = build(root, tmp_path / "out", replace(small_profile, samples=20)).account.unused()
    assert paper["epic"] == 80


def test_the_card_says_how_many_reasons_it_does_not_list(
    small_sources: Path, small_profile: Profile, tmp_path: Path
) -> None:
    root = tmp_path / "sources"
    shutil.copytree(small_sources / "epic", root / "epic")
    labels = "\n".join(json.dumps({"post": "p", "reply": "r", "label": f"l{n}", "annotator": "A"}) for n in range(70))
    (root / "epic" / "more.jsonl.gz").write_bytes(gzip.compress(labels.encode()))
    build(root, tmp_path / "out", small_profile)
    assert "| – | 10 more reasons, all in build.json | 10 | – |" in (tmp_path / "out" / "card.md").read_text()


def test_build_json_counts_what_the_files_hold(built: Built, rows: Rows) -> None:
    summary = json.loads((built.folder / "build.json").read_text())
    assert summary["samples"] == {split: len(found) for split, found in sorted(rows.items())}
    assert summary["seed"] == 3
    labels = Counter(f"{split}/{row['label']}" for split in rows for row in rows[split])
    assert summary["counts"]["label"] == dict(labels)


def _hashes(folder: Path) -> dict[str, str]:
    return dict(json.loads((folder / "build.json").read_text())["files"])


@pytest.mark.processes
def test_neither_the_hash_seed_nor_the_order_of_lines_changes_a_byte(
    small_sources: Path, built: Built, tmp_path: Path
) -> None:
    root = tmp_path / "sources"
    shutil.copytree(small_sources, root)
    for path in root.rglob("*.gz"):
        path.write_bytes(gzip.compress(b"\n".join(reversed(gzip.decompress(path.read_bytes()).split(b"\n")))))
    code = (
        "import sys; from dataclasses import replace; from pathlib import Path; from excam.dataset.build import *\n"
        "small = replace(PROFILES['full'], chores=1, ordinary=300)\n"
        "build(Path(sys.argv[1]), Path(sys.argv[2]), small, 3)"
    )
    subprocess.run(
        [sys.executable, "-c", code, root, tmp_path / "out"],
        check=True,
        env=os.environ | {"PYTHONHASHSEED": "12345", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert _hashes(tmp_path / "out") == _hashes(built.folder)
    for name in ("train.parquet", "dev.parquet", "test.parquet"):
        assert (tmp_path / "out" / name).read_bytes() == (built.folder / name).read_bytes()


def test_another_seed_gives_another_dataset_and_the_paper_profile_a_smaller_one(
    small_sources: Path, built: Built, tmp_path: Path
) -> None:
    small_paper = replace(PROFILES["paper"], chores=1)
    other = build(small_sources, tmp_path / "paper", small_paper, seed=4)
    assert _hashes(other.folder) != _hashes(built.folder)
    ours, papers = (found.account.tally.by("source", "label") for found in (built, other))
    assert papers["culturalbench", "error"] < ours["culturalbench", "error"]
    assert papers["culturalbench", "error"] == papers["culturalbench", "correct"]


def test_soft_errors_of_a_model_become_twins(small_sources: Path, small_profile: Profile, tmp_path: Path) -> None:
    root = tmp_path / "sources"
    shutil.copytree(small_sources / "calmqa", root / "calmqa")
    item = next(item for item in gather(root).items if item.cultural)
    error = CulturalError(
        severity=Severity.MINOR, type="stereotyping", location=Location.OUTPUT, span="immer", explanation="Not all do."
    )  # fmt: skip
    report = ErrorReport(errors=(error,)).render()
    asked, told = f"Frage: {item.question}", f"Oft so: {item.gold}"
    valid = SoftRow(item.item_id, "big", "minor", "freeform_qa", asked, told, asked, "immer so.", report, "valid", None)
    spoilt = SoftRow(item.item_id, "big", "major", "freeform_qa", asked, told, None, None, None, "no_json", "…")
    stray = replace(valid, item_id="calmqa:of another build")
    found = build(root, tmp_path, small_profile, 3, [valid, spoilt, stray, spoilt])
    counts = found.account.tally.by("origin", "severity")
    assert counts["soft-llm", "minor"] == 1
    assert "| big | major | no_json | 1 |" in (tmp_path / "card.md").read_text()
    assert "| big | minor | no_such_item | 1 |" in (tmp_path / "card.md").read_text()
    made = [
        row for split in ("train", "dev", "test") for row in pq.read_table(tmp_path / f"{split}.parquet").to_pylist()
    ]
    twins = [row for row in made if row["instruction"] == asked]
    assert {row["output"] for row in twins} == {told, "immer so."}
    assert len({row["twin_id"] for row in twins}) == 1


def test_a_build_that_fails_leaves_the_one_before_it_as_it_was(
    small_sources: Path, small_profile: Profile, tmp_path: Path
) -> None:
    root, out = tmp_path / "sources", tmp_path / "out"
    shutil.copytree(small_sources / "calmqa", root / "calmqa")
    build(root, out, small_profile, 3)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    (out / ".build-killed").mkdir()
    item_id = pq.read_table(out / "test.parquet").filter(pc.field("label") == "error")["item_id"][0].as_py()
    item = next(item for item in gather(root).items if item.item_id == item_id)
    known = (item_id, "big", "minor", "freeform_qa", item.question, item.gold)
    torn = SoftRow(*known, "Frage?", "immer so.", "{", "valid", None)
    with pytest.raises(UserError, match="cannot be read"):
        build(root, out, replace(small_profile, chores=2), 3, [torn])
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_a_folder_without_sources_is_a_mistake_with_a_fix(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none of the sources"):
        build(tmp_path, tmp_path / "out")
    with pytest.raises(UserError, match="there is no folder"):
        build(tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(UserError, match="no profile"):
        build(tmp_path, tmp_path / "out", "huge")


def test_broken_records_are_counted_with_the_place_they_stand_at(
    small_sources: Path, small_profile: Profile, tmp_path: Path
) -> None:
    root = tmp_path / "sources"
    shutil.copytree(small_sources / "epic", root / "epic")
    path = root / "epic" / "annotations.jsonl.gz"
    broken = [
        b"{not json",
        b'{"post": "half a pair \\ud83d", "reply": "r", "label": "ironic", "annotator": "A"}',
        b'{"post": "p", "reply": "r", "label": "ironic", "annotator": "A", "nationality": "Ire\\udcffland"}',
    ]
    path.write_bytes(gzip.compress(b"\n".join([*broken, *gzip.decompress(path.read_bytes()).split(b"\n")])))
    found = build(root, tmp_path / "out", small_profile)
    assert sum(count for (source, _), count in found.account.gathered.bad.items() if source == "epic") == 3
    assert "epic" in (tmp_path / "out" / "card.md").read_text().split("## Records left out")[1]
