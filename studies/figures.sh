#!/bin/sh
# Computes the figures of docs/study.md from the kept tables, into runs/study: a file for each, with
# the command's output. About half an hour on two processors. Call it in the repository's folder.
set -eu
graft=${GRAFT:-bin/graft}
out=runs/study
mkdir -p $out
[ -d runs/tables ] || tar -xzf studies/transfer/tables.tar.gz -C runs

# evaluate NAME ARGUMENTS...: an evaluation, unless its file is there.
evaluate() {
	name=$1
	shift
	[ -s $out/$name.txt ] || { $graft evaluate --quiet "$@" >$out/$name.part && mv $out/$name.part $out/$name.txt; }
	echo "$name: $(grep '^policies, voting  ' $out/$name.txt)"
}

for held in judge judge-reseeded; do
	sed 's/method = "forest"/method = "network"/' studies/$held.toml >$out/$held-network.toml
	for against in "best fixed" "linear model" never; do
		evaluate $held-"$(echo "$against" | tr ' ' -)" --leave-out held-out --learn studies/$held.toml --against "$against"
	done
	evaluate $held-network --leave-out held-out --learn $out/$held-network.toml --against "linear model"
	evaluate $held-tried --leave-out held-out --learn studies/$held.toml --try learn.leaf=1 --try learn.leaf=5 --try learn.pool=0.5
done

# Everything of one kind left out: the 120 tables to learn from.
sed '/^held_out/,/^]/d' studies/judge.toml >$out/known.toml
for by in network dataset budget; do
	evaluate by-$by --leave-out $by --learn $out/known.toml --seeds 3
done

# without NAME INPUTS: policies that do not see some inputs.
without() {
	sed "s/^\[learn\]/[learn]\nwithout = [$2]/" $out/known.toml >$out/without-$1.toml
	for by in network budget; do
		evaluate without-$1-$by --leave-out $by --learn $out/without-$1.toml --seeds 3
	done
}
without time '"left", "steps_left", "wave1", "wave2", "steps_after", "step_seconds"'
without curve '"accuracy", "accuracy_known", "loss", "fall", "gap", "loss_share", "above_chance"'
without cost '"slowdown", "steps_after", "added_operations", "growth_operations", "added_parameters", "growth_parameters", "growth_layers"'
without size '"parameters", "operations", "layers", "matrix", "growth_operations", "growth_parameters", "growth_layers"'
without decisions '"decisions"'

# Fewer tables: two draws of each number that hold all kinds of actions. Policies learn from them and
# are judged by those held out, with seeds that no table to learn from has. The draws are those of a
# linear congruential generator (Park and Miller, Communications of the ACM 31, 1988).
for tables in 10 20 40 80; do
	for draw in 1 2; do
		for method in forest network; do
			file=$out/few-$tables-$draw-$method.toml
			awk -v n=$tables -v x=$draw -v method=$method '
				BEGIN {
					for (k = 0; k < 120; k++) at[k] = k
					for (k = 0; k < 5; k++) x = x * 16807 % 2147483647
					for (k = 0; k < n; k++) {
						x = x * 16807 % 2147483647
						other = k + x % (120 - k)
						swap = at[k]; at[k] = at[other]; at[other] = swap
						take[at[k]] = 1
					}
				}
				/^held_out/ { held = 1 }
				/^  "runs/ && !held { if (!(line++ in take)) next }
				{ sub(/method = .*/, "method = \"" method "\""); print }' studies/judge-reseeded.toml >$file
			evaluate few-$tables-$draw-$method --leave-out held-out --learn $file --seeds 2
		done
	done
done

# The first decisions by the time that is left.
[ -d $out/policy ] || $graft learn studies/judge.toml --folder $out/policy --quiet >/dev/null
$graft plot $out/policy --kind heat --out $out --quiet

# Growing against the final network from scratch: ten seeds of five scenarios.
for scenario in plain-digits-medium-soon-three dense-digits-medium-soon-three residual-textures-medium-soon-three separable-shapes-medium-soon-three patches-both-medium-soon-three; do
	actions=$(sed -n 's/^actions = //p' studies/transfer/$scenario.toml)
	sed '/^\[simulate\]/,$d' studies/transfer/$scenario.toml >$out/$scenario.toml
	printf 'decider = "policy"\npolicy = "%s/policy"\nactions = %s\n[compare]\nactions = %s\n' $out "$actions" "$actions" >>$out/$scenario.toml
	[ -s $out/compare-$scenario.txt ] || $graft compare $out/$scenario.toml --seeds 10 --set run.seed=201 --arms never,random,"final from scratch" --folder $out/compare-$scenario --force --quiet >$out/compare-$scenario.txt
	echo "$scenario:"
	cat $out/compare-$scenario.txt
done
