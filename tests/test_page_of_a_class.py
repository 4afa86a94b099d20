"""The page before a class: what is asked, what is hidden, and what becomes of every guess."""

import pytest
from scripts import needs_browser
from test_page_alive import TELEPHONE, use

import reidbn as rb

pytestmark = [pytest.mark.slow, needs_browser]

GUESS = """
  const field = () => paper.querySelector(".guess input"), note = () => paper.querySelector(".guess .note").textContent;
  const guess = text => { type(field(), text, "input"); press("Add the guess"); };
  const hidden = () => paper.body.classList.contains("hiding");
"""  # noqa: E501


def test_the_condition_stands_in_the_question_that_is_guessed_and_first_in_the_menu(tmp_path):
    """'How likely is it that you are at the café' was guessed at 50 %; the page says 44.4 %."""
    body = """
      press("Predict first");
      const menu = paper.querySelector("select");
      told.push([...menu.options].map(o => o.text));
      for (const i of [1, 2]) { type(menu, String(i)); told.push(said()); }
      type(menu, "0"); state("listed = no").click(); press("Do"); state("breakfast = yes").click();
      told.push(said());
    """
    menu, second, third, made = use("breakfast", body, tmp_path)
    assert menu[1].startswith("Given overheard=yes: The neighbour finds")
    assert menu[2] == "Given overheard=no: You are at the café (breakfast=yes)"
    assert second.endswith("shopping”, given overheard=yes?")
    assert third.endswith("how likely is it that “You are at the café”, given overheard=no?")
    assert made.endswith("shopping”, given listed = no, when breakfast = yes is brought about?")


def test_a_page_for_a_class_opens_hidden_and_starts_again_hidden(tmp_path):
    body = (
        GUESS
        + """
      told.push([hidden(), number(), at.reidbn.link()]);
      guess("7"); press("Reveal"); told.push([hidden(), at.reidbn.link()]);
      at.location.hash = "set.alike=9"; await wait(60); told.push([hidden(), number()]);
      at.location.hash = "predict=no"; await wait(60); told.push([hidden(), note()]);
      press("Start again"); told.push([hidden(), number(), note()]);
      type($("pasted"), "#set.alike=9&predict=no", "input"); press("Open it");
      told.push([hidden(), at.reidbn.state().set.alike]);
    """
    )
    found = use("breakfast", body, tmp_path, predict=True)
    assert found[0] == [True, "?", "predict=yes"]
    assert found[1] == [False, "predict=no"]
    assert found[2] == [True, "?"]
    assert found[3] == [False, ""]
    assert found[4] == [True, "?", ""]
    assert found[5] == [False, 9]


def test_the_shell_opens_it_hidden_and_refuses_that_of_people(shell, tmp_path):
    path = tmp_path / "p.html"
    assert shell("page", "breakfast", "--predict", "-o", str(path))[0] == 0
    assert path.read_text() == (
        rb.load("breakfast").page(tmp_path / "q.html", predict=True).read_text()
    )
    code, said = shell("page", "adversary-routes", "--predict", "--assess", "synthetic:200",
                       "--qi", "age,sex", "-o", str(path))  # fmt: skip
    assert code == 2
    assert "open its address with #predict=yes" in said


def test_no_guess_is_dropped_without_a_word(tmp_path):
    body = (
        GUESS
        + """
      press("Predict first"); guess("5"); guess("0,1"); press("Reveal");
      told.push([hidden(), note(), paper.activeElement.textContent]);
      paper.activeElement.click(); type(field(), "often", "input"); press("Reveal");
      told.push([hidden(), note()]);
      type(field(), "30", "input"); press("Reveal");
      told.push([hidden(), note(), field() === null, buttons().some(b => b.textContent === "Add the guess")]);
      press("Predict first"); press("Reveal");
      told.push([hidden(), note(), paper.querySelector(".guess").hidden]);
      press("Predict first"); guess("1 in 10"); told.push(note());
    """  # noqa: E501
    )
    which, none, taken, empty, said = use("breakfast", body, tmp_path)
    asked = "Say so first, or empty the field; then Reveal."
    assert which == [True, f"“0,1”: which do you mean? {asked}", "10.0\u00a0%"]
    assert none == [True, f"“often” is no chance from 0 to 100\u00a0%. {asked}"]
    assert taken == [False, "3 guesses, the middle one 10.0\u00a0%; the answer is 1.0\u00a0%",
                     True, False]  # fmt: skip
    assert empty == [False, "No guess; the answer is 1.0\u00a0%", False]
    assert said == "1 so far; the last was 10.0\u00a0%"


def test_the_middle_of_an_even_number_is_said_by_two_guesses_that_were_made(tmp_path):
    """'6 guesses, the middle one 7.5 %', of which nobody had said 7.5."""
    body = (
        GUESS
        + """
      press("Predict first"); for (const text of ["1", "5", "10", "50"]) guess(text);
      press("Reveal"); told.push(note());
      press("Predict first"); for (const text of ["1", "5", "5", "50"]) guess(text);
      press("Reveal"); told.push(note());
      press("Predict first"); guess("9"); type(paper.querySelector("select"), "2"); guess("50");
      press("Reveal"); told.push(note());
    """
    )
    apart, same, other = use("breakfast", body, tmp_path)
    assert apart == (
        "4 guesses, as many up to 5.0\u00a0% as from 10.0\u00a0% on; the answer is 1.0\u00a0%"
    )
    assert same.startswith("4 guesses, the middle one 5.0\u00a0%;")
    assert (
        other == "One guess, 50.0\u00a0%; the answer is 44.4\u00a0%"
    )  # 9 % was of another question


def test_a_guess_stands_on_the_scale_of_the_bar_and_words_say_which(tmp_path):
    body = (
        GUESS
        + """
      press("Predict first"); guess("25");
      told.push(paper.querySelector(".guesses i").style.left);
      press("Reveal");
      const marks = where => [...paper.querySelectorAll(where + " .scale span")].map(s => s.style.left);
      told.push(paper.querySelector(".guesses b").style.left, paper.querySelector(".track i").style.width);
      told.push(marks(".guess"), marks(".compare"));
      told.push([...paper.querySelectorAll(".glossary dt")].map(d => d.textContent));
    """  # noqa: E501
    )
    dot, mark, bar, below, above, words = use("breakfast", body, tmp_path)
    assert dot == "50%"
    assert mark == bar == "10%"
    assert below == above
    assert {"see", "do", "bar"} <= {*words}


def test_chances_are_said_in_percent_wherever_a_number_stands(tmp_path):
    body = """
      const own = $("p-p_overheard").closest(".slider");
      const uses = () => [...paper.querySelectorAll(".uses")].map(u => u.textContent).join("; ");
      const row = () => [...paper.querySelectorAll("#stands tr")].find(r => r.textContent.startsWith("p_overheard")).textContent;
      told.push(own.querySelector(".same").textContent, uses(), row());
      type(own.querySelector(".typed input"), "0.3"); told.push(own.querySelector(".same").textContent, row());
    """  # noqa: E501
    same, uses, row, moved, table = use("breakfast", body, tmp_path)
    assert (same, moved) == ("= 20\u00a0%", "= 30\u00a0%")
    assert "p_overheard = 20\u00a0% (assumed)" in uses
    assert "alike = 5 (assumed)" in uses
    assert "20\u00a0% (5\u00a0% to 50\u00a0%)" in row
    assert "yours: 30\u00a0%; was 20\u00a0%" in table


@pytest.mark.parametrize("model", ["breakfast", "adversary-routes", "surname", "linkage"])
def test_no_box_is_cut_when_its_numbers_get_more_digits(model, tmp_path):
    body = """
      const cut = () => [...paper.querySelectorAll(".card")].filter(c => c.scrollHeight > c.clientHeight + 1).map(c => c.ariaLabel);
      told.push(cut());
      for (const p of at.reidbn.held.parameters.filter(p => p.chance && p.frozen === null))
        type($("p-" + p.name), 123.4, "input");
      told.push(cut(), at.reidbn.state().set);
    """  # noqa: E501
    before, after, values = use(model, body, tmp_path)
    assert values
    assert (before, after) == ([], [])


@pytest.mark.parametrize("width", [TELEPHONE, 1024])
def test_the_answer_at_the_foot_of_the_window_covers_nothing_for_good(width, tmp_path):
    body = """
      at.scrollTo({top: 99999, behavior: "instant"}); await wait(300);
      const bar = paper.querySelector(".sticky").getBoundingClientRect();
      told.push(bar.left, at.innerWidth - bar.right, at.innerHeight - bar.bottom, bar.height,
        bar.top - $("sealed").getBoundingClientRect().bottom);
    """
    left, right, below, height, free = use("breakfast", body, tmp_path, width)
    assert abs(left) < 1
    assert abs(right) < 20  # what a scroll bar takes
    assert abs(below) < 1
    assert 20 < height < 100
    assert free > 0


def test_a_hidden_page_leaves_no_room_for_what_it_hides(tmp_path):
    body = """
      const box = name => paper.querySelector(name).getBoundingClientRect();
      told.push(box(".guess").top - box(".note").bottom);
    """
    (gap,) = use("breakfast", body, tmp_path, TELEPHONE, predict=True)
    assert gap < 60
