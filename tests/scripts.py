"""JavaScript of the pages, run outside the product: by Node.js where it is, else by Chromium."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from devtools import CHROMIUM, Browser

import reidbn as rb

NODE = shutil.which("node")
_PAGE = Path(rb.__file__).with_name("page")
ENGINE = "".join((_PAGE / name).read_text() for name in ("kinds.js", "engine.js"))
needs_scripts = pytest.mark.skipif(
    not (NODE or CHROMIUM), reason="neither Node.js nor Chromium is here to run the page's engine"
)
needs_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here to look at pages with"
)

ANSWERS = """
const told = jobs.map(({payload, cases}) => {
  const model = new Engine.Model(payload);
  return cases.map(c => {
    try {
      const question = payload.questions[c.question];
      const answer = model.ask(c.set, question, c.see, c.do);
      const worst = model.worst(c.set, question, c.see, c.do);
      const all = model.all(c.set, model.given(question, c.see), c.do);
      return {value: Number.isNaN(answer.value) ? null : answer.value, evidence: answer.evidence,
              again: all.evidence, marginals: all.marginals, policies: Object.fromEntries(
                Object.entries(answer.policies).map(([n, p]) => [n, [...p.policy]])),
              worst: worst && worst.value,
              happens: Object.fromEntries(
                Object.entries(all.happens).map(([n, p]) => [n, [...p]])),
              tied: Object.keys(answer.policies).filter(n => answer.policies[n].tied)};
    } catch (problem) {
      if (!(problem instanceof Refused)) throw problem;
      return {refused: problem.key};
    }
  });
});
"""


def run(body: str, data, folder: Path):
    """What `told` is after a script that has the engine, and the data as `jobs`."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(data)
    if NODE:
        (folder / "jobs.json").write_text(text)
        script = (
            f"{ENGINE}\n"
            f'const jobs = JSON.parse(require("fs").readFileSync("{folder}/jobs.json"));\n'
            f'{body}\nrequire("fs").writeFileSync("{folder}/told.json", JSON.stringify(told));'
        )
        (folder / "run.js").write_text(script)
        subprocess.run([NODE, str(folder / "run.js")], check=True, timeout=600)
        return json.loads((folder / "told.json").read_text())
    safe = re.sub("[<>&]", lambda m: f"\\u{ord(m[0]):04x}", text)
    (folder / "run.html").write_text(
        '<!doctype html><meta charset="utf-8"><pre id="found"></pre>'
        f"<script>{ENGINE}</script><script>const jobs = {safe};\n{body}\n"
        'document.getElementById("found").textContent = JSON.stringify(told);</script>'
    )
    return looked(folder / "run.html")


# What stands in <pre id="found"> once something does.
FOUND = """new Promise(told => {
  const look = () => document.getElementById("found").textContent
    ? told(document.getElementById("found").textContent) : setTimeout(look, 20);
  look();
})"""


def looked(path: Path):
    """What a page leaves in <pre id="found"> when Chromium has run it."""
    with Browser() as browser:
        browser.open(path)
        return json.loads(browser.say(FOUND))


def answered(jobs, folder: Path):
    """The engine's answers to the cases of every job."""
    return run(ANSWERS, jobs, folder)
