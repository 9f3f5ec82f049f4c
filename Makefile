.DEFAULT_GOAL := help
.PHONY: help setup setup-test demo test unit integration acceptance sites faults test-for check fix serve bench docs fuzz sbom audit lock

BIN := .venv/bin
# Some images set it. Every process of the service, and of the tests, would then compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

help: ## show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: ## install what running needs (Debian packages, Python environment); quick when nothing is missing
	@scripts/setup

setup-test: ## the same, and what checks and tests need
	@scripts/setup test

demo: setup ## serve, open a practice meeting, send a bot, print the transcript (KEEP=1 leaves it running)
	@$(BIN)/sederunt demo $(if $(KEEP),--keep)

test: setup-test check ## all checks and all tests
	@scripts/test

unit: setup-test ## the unit tests: pure, seconds
	@TEST_PROCESSES=$${TEST_PROCESSES:-2} scripts/test tests/unit

integration: setup-test ## one real neighbour each: Chromium, NATS, PostgreSQL, Whisper
	@scripts/test tests/integration

acceptance: setup-test ## the installed command, spoken to from outside: the longest
	@scripts/test tests/acceptance

SITES := ../shared/sites/run.py

sites: setup-test ## bots against stand-ins of the sites by another hand, where they lie beside: hours (CELLS=smoke: 6 minutes)
	@if [ -e $(SITES) ]; then python3 $(SITES) --checkout . --cells $(or $(CELLS),all); \
	else echo "Sites of another hand: not played, $(SITES) is not here."; fi

FAULTS := tests/acceptance/faults tests/acceptance/test_restarts.py tests/acceptance/test_capacity.py \
  tests/acceptance/test_frozen_pages.py tests/acceptance/test_names_after_a_loss.py \
  tests/acceptance/test_stopped_while_away.py tests/integration/bus tests/integration/jobs/test_killed_holder.py tests/integration/jobs/test_assemble.py tests/integration/jobs/test_database_away.py \
  tests/integration/media/test_sandboxed_reader.py tests/integration/jobs/test_housekeeping.py tests/integration/jobs/test_storm.py tests/integration/cli/test_serve.py tests/integration/cli/test_supervisor.py \
  tests/integration/cli/test_watch.py tests/integration/cli/test_service_manager.py tests/integration/cli/test_speech_trial.py tests/unit/cli/test_watch.py tests/unit/jobs/test_job.py tests/integration/database/test_engine.py \
  tests/integration/meetings/test_lifecycle.py tests/integration/meetings/test_lifecycle_endings.py tests/integration/meetings/record/test_recording.py \
  tests/integration/browser/test_pool.py tests/integration/browser/test_stopped_processes.py \
  tests/integration/browser/test_liveness.py tests/unit/browser/test_renderer_cpu.py tests/unit/meetings/session/test_media_link.py tests/unit/meetings/session/test_outages.py tests/integration/api/test_middleware.py \
  tests/integration/webhooks/test_deliverer.py

faults: setup-test ## what dies, freezes, is cut off, torn or too much: the rows of docs/reliability.md
	@FAULTS_BOTS=$${FAULTS_BOTS:-20} TEST_PROCESSES=$${TEST_PROCESSES:-2} scripts/test $(FAULTS)

test-for: setup-test ## the tests of one path, file or name: make test-for P=webhooks, P=tests/unit/api, P="tests -k deletion"
	@scripts/test-for $(P)

check: setup-test ## formatting, lint, types, import contracts, JavaScript
	@scripts/check

fix: setup-test ## format and repair what can be repaired
	@$(BIN)/ruff format --quiet src tests clients; $(BIN)/ruff check --fix --quiet src tests clients; status=$$?; \
	$(BIN)/ruff format --quiet src tests clients; exit $$status

serve: setup ## run the service here (data in ./data)
	@$(BIN)/sederunt serve --data data

bench: setup-test ## measure capture against a classical bot
	@$(BIN)/sederunt bench capture

docs: setup-test ## write the generated parts of the documentation and of the Python client
	@$(BIN)/python scripts/docs.py && $(BIN)/python scripts/client.py

fuzz: setup-test ## search for input that breaks a parser: ten minutes each, or make fuzz SECONDS=60
	@FUZZ_SECONDS=$(or $(SECONDS),600) $(BIN)/python -m pytest -q -n 0 --timeout 0 tests/unit/test_fuzz.py \
	  tests/unit/api/schemas/test_any_json.py

sbom: setup ## write what is installed, with digests and licences, to sbom.json (CycloneDX)
	@$(BIN)/python scripts/sbom sbom.json

audit: setup ## licences of what is installed, and its known weaknesses where PyPI answers
	@$(BIN)/python scripts/audit

lock: ## resolve the locked requirements anew
	@scripts/lock
