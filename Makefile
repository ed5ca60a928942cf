# make demo: a new environment, then real text scored by real metrics, offline.
# make check: the same for all that a change must pass, quick things first: ruff, mypy, then the tests.
PYTHON ?= python3
PIP_FLAGS = --quiet --disable-pip-version-check -c constraints.txt
OFFLINE = HF_HUB_OFFLINE=1 TRANSFORMERS_OFFLINE=1
# Tests run side by side, one process per core with THREADS threads each. A worker needs up to 2 GB of memory.
# `make slow` is for the night: the same tests on more data, models, draws and examples, with all of `make faults`.
WORKERS ?= logical
THREADS ?= 1
CODE = src tests benchmarks recipes
DEMO = -m bleu -m chrf -m bertscore -m nli -m rated

.PHONY: demo check lint test slow encoders faults browser dist sbom reference site clean

demo: .venv-demo/.installed
	@mkdir -p demo
	@echo "== Three writers of weather reports, five metrics, each tested against the first =="
	$(OFFLINE) .venv-demo/bin/nlgauge score examples/weather.jsonl $(DEMO) --significance randomization --json demo/score.json --segments demo/score.tsv --no-cache
	@echo
	@echo "== What BERTScore saw in one pair =="
	$(OFFLINE) .venv-demo/bin/nlgauge align --hyp "Expect heavy rain across the north tonight." --ref "Tonight there will be downpours in northern areas." --json demo/align.json
	@echo
	@echo "== What these metrics cannot see: their drop under each perturbation against people's =="
	$(OFFLINE) .venv-demo/bin/nlgauge audit examples/weather.jsonl --task d2t $(DEMO) --json demo/checklist.json --segments demo/checklist.tsv --no-cache -q
	@echo
	@echo "== Do they prefer a faithful paraphrase to a near-copy with an error? =="
	$(OFFLINE) .venv-demo/bin/nlgauge audit examples/weather.jsonl --suite menli $(DEMO) --json demo/menli.json --segments demo/menli.tsv --no-cache -q
	@echo
	@echo "== How well do they agree with people? =="
	$(OFFLINE) .venv-demo/bin/nlgauge meta examples/weather.jsonl --judgements examples/weather_ratings.tsv $(DEMO) -c adequacy -c fluency --level item --stat kendall_b --test perm_both --json demo/meta.json --segments demo/meta.tsv --no-cache -q
	@echo
	@echo "== Which of them to take for these texts? =="
	$(OFFLINE) .venv-demo/bin/nlgauge choose examples/weather.jsonl --task d2t $(DEMO) --json demo/choose.json --no-cache -q
	@echo
	@echo "== All of this on one page =="
	.venv-demo/bin/nlgauge report demo/score.json demo/meta.json demo/checklist.json demo/menli.json demo/choose.json demo/align.json --data examples/weather.jsonl -o demo/report.html --title "Three writers of weather reports"
	@echo "Open demo/report.html in a browser."

check: lint test

lint: .venv-test/.installed
	@echo "== ruff, mypy, import-linter: minutes when it is cold, seconds later =="
	.venv-test/bin/ruff check $(CODE)
	.venv-test/bin/ruff format --check $(CODE)
	.venv-test/bin/mypy
	.venv-test/bin/lint-imports --no-cache

test: .venv-test/.installed
	@echo "== Tests =="
	$(OFFLINE) OMP_NUM_THREADS=$(THREADS) .venv-test/bin/python -m pytest -q -n $(WORKERS) --maxprocesses 8 --dist worksteal

slow:
	NLGAUGE_SLOW=1 $(MAKE) test

# All encoders, 570 MB checked by digest, and the tests that need their weights.
encoders: .venv-test/.installed
	.venv-test/bin/nlgauge fetch all
	NLGAUGE_SLOW=1 $(OFFLINE) OMP_NUM_THREADS=$(THREADS) .venv-test/bin/python -m pytest -q tests/models/test_fetch.py tests/models/test_fetched.py

# Kills, full disks, damaged caches and files, hostile texts: tests/faults/README.md. A short form is part of `make test`.
faults: .venv-test/.installed
	NLGAUGE_SLOW=1 $(OFFLINE) OMP_NUM_THREADS=$(THREADS) .venv-test/bin/python -m pytest -q tests/faults

# All pages in Chromium, which must be there, with axe-core for their accessibility. Most of it is part of `make test`.
browser: .venv-test/.installed
	npm install --prefix . --no-save --no-package-lock --ignore-scripts --no-audit --no-fund axe-core@4.14.1
	NLGAUGE_SLOW=1 $(OFFLINE) .venv-test/bin/python -m pytest -q tests/report/bundle tests/report/test_browser.py

dist: .venv-test/.installed
	.venv-test/bin/python -m build --outdir dist .

# What an installation consists of, with versions and licences, as CycloneDX JSON. The same parts give the same bytes.
sbom: .venv-demo/.installed
	$(PYTHON) -m venv --clear .venv-sbom
	.venv-sbom/bin/python -m pip install --quiet --disable-pip-version-check cyclonedx-bom==7.5.0
	mkdir -p dist
	.venv-sbom/bin/cyclonedx-py environment .venv-demo --pyproject pyproject.toml --mc-type library --output-reproducible -o dist/nlgauge.cdx.json

# docs/reference, made of docstrings, registries and `--help`.
reference: .venv-test/.installed
	$(OFFLINE) .venv-test/bin/python recipes/tools/reference.py

# The pages of docs/ as a site that needs no server: open site/index.html.
site:
	$(PYTHON) -m venv .venv-site
	.venv-site/bin/python -m pip install --quiet --disable-pip-version-check zensical==0.0.73
	.venv-site/bin/python recipes/tools/site_pages.py .site
	.venv-site/bin/zensical build --strict -f .site/mkdocs.yml
	rm -rf site
	mv .site/site site

.venv-demo/.installed: pyproject.toml constraints.txt
	@echo "== Installing into .venv-demo: some minutes without a word =="
	$(PYTHON) -m venv --clear .venv-demo
	.venv-demo/bin/python -m pip install $(PIP_FLAGS) ".[neural]"
	.venv-demo/bin/nlgauge fetch embedded
	touch $@

.venv-test/.installed: pyproject.toml constraints.txt
	@echo "== Installing into .venv-test: some minutes without a word =="
	$(PYTHON) -m venv --clear .venv-test
	.venv-test/bin/python -m pip install $(PIP_FLAGS) -e ".[all,dev]"
	.venv-test/bin/nlgauge fetch embedded
	touch $@

clean:
	rm -rf demo site .site node_modules .venv-demo .venv-test .venv-sbom .venv-site dist
