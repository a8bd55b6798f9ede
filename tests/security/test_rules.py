"""The source keeps the rules, and each rule finds what it is there for (controls C33, C38)."""

import pytest

from tests.security.rules import RULES, SOURCE, Rule


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.sentence)
def test_each_rule_finds_its_bad_sample(rule: Rule) -> None:
    assert rule.finds(rule.bad)
    assert not rule.finds(rule.good)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.sentence)
def test_the_source_keeps_every_rule(rule: Rule) -> None:
    files = list(rule.files())
    assert files
    broken = [f"{path.relative_to(SOURCE)}:{line}" for path in files for line in rule.finds(path.read_text())]
    assert broken == []
