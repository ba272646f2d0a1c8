#!/bin/sh
# Runs six deciders in jobs of the twenty held-out scenarios, ten seeds that no table has, and compares what they say of the
# first decision with how the scenario's runs end. Ten minutes on two processors. Call it in the repository's folder.
set -eu
graft=${GRAFT:-bin/graft}
[ -d runs/reseeded ] || { mkdir -p runs && tar -xzf studies/transfer/tables.tar.gz -C runs; }
[ -d runs/judge ] || $graft learn studies/judge.toml --folder runs/judge --quiet >/dev/null
mkdir -p runs/trials runs/scenarios
for scenario in studies/transfer/*-medium-*.toml; do
	name=$(basename "$scenario" .toml)
	job=runs/scenarios/$name.toml
	# A job is the scenario without the section simulate, whose actions are its choices.
	sed '/^\[simulate\]/,$d' "$scenario" | awk -v actions="$(grep '^actions' "$scenario")" '
		/^path = / && ENVIRON["DIGITS"] != "" { print "path = \"" ENVIRON["DIGITS"] "\""; next }
		{ print }
		/^\[adapt\]/ { print actions; print "decider = \"random\"" }' >"$job"
	[ -f "runs/trials/$name/outcome.json" ] ||
		$graft train "$job" --cases studies/trials.toml --seeds 10 --workers 2 --set run.seed=201 --folder "runs/trials/$name" --quiet >/dev/null
done
python3 studies/trials.py runs/trials runs/reseeded
