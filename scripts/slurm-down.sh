#!/bin/bash
# Stops the Slurm cluster that slurm-up.sh has started in a folder, with all that its
# jobs have left running. The logs stay in FOLDER/log.
folder=${1:?slurm-down: name a folder}
[ -d "$folder/pid" ] || exit 0
folder=$(realpath "$folder")
export SLURM_CONF=$folder/etc/slurm.conf

# ours PID: whether a process is one of this cluster's daemons, and not another that was
# given its number later. slurmdbd has no path in its command line, but SLURM_CONF in its environment.
ours() { cat "/proc/$1/cmdline" "/proc/$1/environ" 2>/dev/null | tr '\0' ' ' | grep -qF "$folder/"; }

# stop FILE: the daemon whose number is in the file, by force if it does not heed TERM.
stop() {
	local pid
	pid=$(cat "$1" 2>/dev/null) || return 0
	if ours "$pid"; then
		kill -CONT "$pid" 2>/dev/null
		kill -TERM "$pid" 2>/dev/null
		for _ in $(seq 50); do
			ours "$pid" || break
			sleep 0.1
		done
		ours "$pid" && kill -KILL "$pid" 2>/dev/null
	fi
	rm -f "$1"
}

for file in "$folder"/pid/slurmctld "$folder"/pid/slurmd.n*; do
	case $file in *.self) ;; *) stop "$file" & ;; esac
done
wait
# A job's keeper outlives its slurmd, and what a job has started may outlive that. All of
# them carry this cluster's SLURM_CONF; of those that do, only jobs have a SLURM_JOB_ID.
for environ in /proc/[0-9]*/environ; do
	pid=${environ#/proc/} pid=${pid%/environ}
	variables=$(cat "$environ" 2>/dev/null | tr '\0' '\n')
	grep -qxF "SLURM_CONF=$SLURM_CONF" <<<"$variables" || continue
	[ "$(cat "/proc/$pid/comm" 2>/dev/null)" = slurmstepd ] || grep -q '^SLURM_JOB_ID=' <<<"$variables" || continue
	kill -KILL "$pid" 2>/dev/null
done
for name in slurmdbd mariadbd munged; do stop "$folder/pid/$name"; done
exit 0
