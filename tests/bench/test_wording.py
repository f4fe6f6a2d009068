"""The facts that `bench.wording` asks for are the atlas's, and no rewording of them is there to learn from."""

from __future__ import annotations

from bench.wording import FACTS, WORDINGS, ranked, rows
from excam.dataset.atlas import FACTS as ATLAS
from excam.dataset.atlas.lines import read_lines
from excam.dataset.atlas.rewordings import read_rewordings
from tests.train.conftest import toy_examples


def test_each_fact_is_learned_in_one_wording_alone() -> None:
    customs = {line.fields[1]: line.fields for line in read_lines(ATLAS / "customs", 4)}
    again = read_rewordings(ATLAS / "rewordings" / "customs", 2)
    for line in read_lines(FACTS, 7):
        code, question, right, wrong, other, *_ = line.fields
        fact = customs[question]
        assert (fact[0], fact[2]) == (code, right)
        assert wrong in fact[3:]
        assert question not in again
        assert other not in customs


def test_every_wording_has_as_many_twins() -> None:
    found = list(rows())
    assert [sum(row["source"] == wording for row in found) for wording in WORDINGS] == [len(found) // 3] * 3
    assert len({row["sample_id"] for row in found}) == len(found)


def test_a_judge_in_order_everywhere_has_an_auc_of_one() -> None:
    examples = toy_examples(40)
    pairs, auc, order = ranked((examples.label == 1) * 1.0, examples, "cultural")
    assert (pairs, auc, order) == (int((examples.source == 0).sum()), 1.0, 1.0)
    assert ranked(examples.label * 0.0, examples, "cultural")[1:] == (0.5, 0.0)
