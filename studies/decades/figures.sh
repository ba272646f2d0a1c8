#!/bin/sh
# Judges the policies of the study of decades, and asks what limits them: the output of each command is a file in
# runs/decades-judged. Ten minutes on two processors. Call it in the folder that contains studies, after
# 'graft pipeline studies/decades.toml' or 'studies/decades/archive.sh unpack'.
set -eu
graft=${GRAFT:-bin/graft}
out=runs/decades-judged
baselines='never,best fixed,best fixed action,grow on a plateau,largest gain per cost,linear model'
mkdir -p $out

# evaluate NAME ARGUMENTS...: an evaluation, unless its file is there.
evaluate() {
	name=$1
	shift
	[ -s $out/$name.txt ] || {
		$graft evaluate --quiet "$@" >$out/$name.part
		mv $out/$name.part $out/$name.txt
	}
	echo "$name: $(grep '^policies, voting  ' $out/$name.txt)"
}

# judge NAME GROUP SCRIPT: the registered comparisons of a group, with settings that a script of sed changes.
judge() {
	sed "$3" studies/decades/judge-$2.toml >$out/$1-$2.toml
	evaluate $1-$2 --leave-out held-out --learn $out/$1-$2.toml --against "$baselines"
}

for group in size family dataset budget; do
	judge registered $group ''
	judge sizes $group '/^without = /d'                                   # policies that see absolute sizes
	judge gains $group 's/^without = .*/without = ["sizes", "gains"]/'     # policies that do not see gains
	judge networks $group 's/^method = .*/method = "network"/'            # policies that are neural networks
done

# Within the training tables: a family, a dataset or a budget left out.
sed '/^held_out/,/^]/d' studies/decades/judge-size.toml >$out/known.toml
for by in network dataset budget; do
	evaluate known-$by --leave-out $by --learn $out/known.toml --seeds 3
done

# Fewer tables, two draws of each number, for larger networks. The draws are from the linear congruential generator of
# Park and Miller (Communications of the ACM 31, 1988).
for tables in 12 24 48; do
	for draw in 1 2; do
		awk -v n=$tables -v x=$draw '
			BEGIN {
				for (k = 0; k < 96; k++) at[k] = k
				for (k = 0; k < 5; k++) x = x * 16807 % 2147483647
				for (k = 0; k < n; k++) {
					x = x * 16807 % 2147483647
					other = k + x % (96 - k)
					swap = at[k]; at[k] = at[other]; at[other] = swap
					take[at[k]] = 1
				}
			}
			/^held_out/ { held = 1 }
			/^  "runs/ && !held { if (!(line++ in take)) next }
			{ print }' studies/decades/judge-size.toml >$out/few-$tables-$draw.toml
		evaluate few-$tables-$draw --leave-out held-out --learn $out/few-$tables-$draw.toml --seeds 2
	done
done
