"""Answers, refusals and notes that a twelfth look found wrong, each with what is right."""

import pytest

import reidbn as rb
from reidbn.cli import main


def written(tmp_path, text):
    path = tmp_path / "model.yaml"
    path.write_text(f"schema_version: 1\nname: model\ntitle: t\nstory: s\n{text}", encoding="utf-8")
    return str(path)


# -- what is offered, and what is noted ------------------------------------------------------------


def test_the_help_of_decide_offers_nothing_that_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["decide", "--help"])
    told = capsys.readouterr().out
    assert "--given" not in told
    assert "--do " not in told
    for option in ("--given", "--do"):
        with pytest.raises(SystemExit) as ended:
            main(["decide", "insider-decides", option, "aim=money"])
        assert ended.value.code == 2
        assert f"{option}: the policy is that of the attack as it is; use reidbn ask" in (
            capsys.readouterr().err
        )
