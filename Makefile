# The whole contributor interface; `make help` lists it.
.DEFAULT_GOAL := help
BIN := .venv/bin

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

setup:  ## create .venv with everything pinned and hashed
	@python3 bootstrap.py setup

demo: setup  ## assess a shipped example and write a readable report
	@python3 bootstrap.py demo

test: setup  ## run the default test suite
	@python3 bootstrap.py test

lowest:  ## the tests with the oldest versions that are allowed
	@python3 bootstrap.py lowest

newest:  ## the tests with the newest Python and the newest versions
	@python3 bootstrap.py newest

format: setup  ## format the code
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

lint: setup  ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

hostile: setup  ## damaged inputs, wrong calls and failing disks, counted (CASES=20000)
	@$(BIN)/python tests/hostile/fuzz.py $(or $(CASES),20000) $(or $(SEED),1)

wheel: setup  ## the wheel contains the models and runs with the core dependencies alone
	$(BIN)/python tests/wheel_check.py

check: lint test notebooks-check wheel  ## everything that CI runs

lessons:  ## open copies of the lessons in a notebook server (lessons/)
	@python3 bootstrap.py lessons

docs: setup  ## the documentation as pages that open from disk (site/); strict about links
	@$(BIN)/python docs/build.py

# Models whose events a group can judge without knowing them.
CARDS = breakfast composition el-emam-context jigsaw leak-homogeneous leak-single \
  linddun-tree linkage motivated-intruder prosecutor sweeney-voter surname synthetic-membership \
  family-search insider-decides mobility

class: setup  ## what a class of ninety minutes needs, for a USB stick (class/; docs/class.md)
	@mkdir -p class
	@$(BIN)/reidbn page breakfast --predict -o class/breakfast.html
	@$(BIN)/reidbn page adversary-routes -o class/adversary-routes.html
	@$(BIN)/reidbn cards $(CARDS) -o class/cards.html
	@$(BIN)/reidbn assess synthetic:2000 --qi age,sex,state,race --scenario voter-registration \
	  --state-column state --population 6900000 --release public --threshold ema \
	  --html class/report.html > /dev/null || [ $$? -eq 1 ]  # 1: this release does not pass, as the class finds
	@$(BIN)/python docs/build.py --class class

notebooks: setup  ## run every lesson and store its outputs
	$(BIN)/python notebooks/run.py write

notebooks-check: setup  ## run every lesson and compare it with its pair
	$(BIN)/python notebooks/run.py check

golden: setup  ## rewrite the golden answers of the shipped models, and their page
	$(BIN)/python tests/golden.py
	$(BIN)/python tests/models_page.py

schema: setup  ## rewrite the JSON Schema of model files
	$(BIN)/reidbn schema > models/model.schema.json

bench: setup  ## run the benchmarks (minutes; installs the bench extra)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[bench]'
	$(BIN)/python -m benchmarks

lock:  ## resolve requirements.lock and lessons.lock anew (needs uv)
	uv pip compile pyproject.toml --extra dev --generate-hashes --no-emit-index-url \
	  --no-header --python-version 3.11 --universal -o requirements.lock
	uv pip compile pyproject.toml --extra lessons --generate-hashes --no-emit-index-url \
	  --no-header --python-version 3.11 --universal -c requirements.lock -o lessons.lock

sbom: setup  ## what the installed product is made of, as CycloneDX (sbom.json)
	$(BIN)/python tests/sbom.py

clean:  ## remove what the tools made
	rm -rf .venv .venv-lowest .venv-newest dist build demo sbom.json .pytest_cache .mypy_cache .ruff_cache .hypothesis

.PHONY: help setup demo test lowest newest format lint hostile wheel check lessons class docs notebooks notebooks-check golden schema bench lock sbom clean
