#!/bin/bash
# Starts a Slurm cluster on this machine for tests: munged, slurmctld and a slurmd for
# each node, without systemd, all in one folder, on the loopback interface. What an
# earlier call has left running in that folder is stopped first.
#
#   slurm-up.sh FOLDER      prints the path of slurm.conf, which SLURM_CONF is to name
#   slurm-down.sh FOLDER    stops it
#
# Needs root, and from Debian: slurm-wlm slurm-client munge; with SLURM_ACCOUNTING=1
# also slurmdbd mariadb-server.
#
#   SLURM_NODES=4     how many nodes
#   SLURM_CPUS=4      processors that each of them pretends to have
#   SLURM_GPUS=2      pretended GPUs of each
#   SLURM_GPU_TYPE=   type of the GPUs; empty for none
#   SLURM_ACCOUNTING= 1 starts a slurmdbd with a database of its own, for sacct and sreport
#   SLURM_PORT=16817  the first of as many ports and eleven
set -euo pipefail
folder=${1:?slurm-up: name a folder}
nodes=${SLURM_NODES:-4} cpus=${SLURM_CPUS:-4} gpus=${SLURM_GPUS:-2} port=${SLURM_PORT:-16817}
type=${SLURM_GPU_TYPE:-} accounting=${SLURM_ACCOUNTING:-}
here=$(dirname "$(realpath "$0")")
host=$(hostname -s)

fail() {
	echo "slurm-up: $*" >&2
	tail -n 20 "$folder"/log/* >&2 2>/dev/null || true
	"$here/slurm-down.sh" "$folder"
	exit 1
}

# await SECONDS COMMAND...: until the command succeeds.
await() {
	local end=$((SECONDS + $1))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# daemon NAME COMMAND...: runs it in a session of its own.
daemon() {
	local name=$1
	shift
	setsid "$@" </dev/null >"$folder/log/$name.out" 2>&1 &
	echo $! >"$folder/pid/$name"
}

[ "$(id -u)" = 0 ] || { echo "slurm-up: needs root" >&2; exit 1; }
for program in munged munge slurmctld slurmd sbatch squeue ${accounting:+slurmdbd mariadbd mariadb-install-db}; do
	command -v "$program" >/dev/null || {
		echo "slurm-up: $program is missing; install slurm-wlm, slurm-client and munge${accounting:+, slurmdbd and mariadb-server}" >&2
		exit 1
	}
done
"$here/slurm-down.sh" "$folder"
rm -rf "$folder"
mkdir -p "$folder"/{etc,log,pid,state,spool,munge/run}
folder=$(realpath "$folder")
chmod 755 "$folder" "$folder"/*

# A key and a socket of its own, so that the system's munged is neither needed nor
# disturbed.
(umask 077; dd if=/dev/urandom of="$folder/munge/key" bs=128 count=1 status=none)
chmod 755 "$folder/munge/run"
chown -R munge:munge "$folder/munge"
daemon munged setpriv --reuid=munge --regid=munge --clear-groups \
	munged -F --force --key-file="$folder/munge/key" --socket="$folder/munge/run/sock" \
	--pid-file="$folder/munge/run/pid" --seed-file="$folder/munge/seed" --log-file="$folder/munge/log"

gres=
if [ "$gpus" -gt 0 ]; then
	gres=Gres=gpu:${type:+$type:}$gpus
	for n in $(seq "$nodes"); do echo "NodeName=n$n Name=gpu ${type:+Type=$type }File=/dev/tty[0-$((gpus - 1))]"; done >"$folder/etc/gres.conf"
fi
# account: starts the database and slurmdbd. The database is in the folder and listens on the loopback interface.
account() {
	mkdir -p "$folder/db"
	chown mysql:mysql "$folder/db"
	mariadb-install-db --no-defaults --datadir="$folder/db" --user=mysql --auth-root-authentication-method=normal \
		--skip-test-db >"$folder/log/mariadb-install.out" 2>&1 || fail "the database cannot be created"
	daemon mariadbd setpriv --reuid=mysql --regid=mysql --clear-groups mariadbd --no-defaults \
		--datadir="$folder/db" --socket="$folder/db/sock" --pid-file="$folder/db/pid" \
		--bind-address=127.0.0.1 --port="$((port + 2))" --skip-name-resolve --innodb-buffer-pool-size=64M
	sql() { mariadb --no-defaults --socket="$folder/db/sock" --user=root "$@"; }
	await 300 sql --execute 'SELECT 1' || fail "the database does not answer"
	sql --execute "CREATE DATABASE accounting; CREATE USER slurm@127.0.0.1 IDENTIFIED BY 'test';
		GRANT ALL ON accounting.* TO slurm@127.0.0.1" || fail "the database refuses its user"
	(umask 077; cat >"$folder/etc/slurmdbd.conf" <<CONF
AuthType=auth/munge
AuthInfo=socket=$folder/munge/run/sock
DbdHost=$host
DbdAddr=127.0.0.1
DbdPort=$((port + 1))
SlurmUser=root
PidFile=$folder/pid/slurmdbd.self
LogFile=$folder/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$((port + 2))
StorageUser=slurm
StoragePass=test
StorageLoc=accounting
CONF
	)
	# slurmdbd reads slurmdbd.conf from the folder of SLURM_CONF.
	daemon slurmdbd slurmdbd -D
	await 300 sacctmgr -n -i add cluster test || fail "slurmdbd does not answer"
	sacctmgr -n -i add account tests Cluster=test >/dev/null
	sacctmgr -n -i add user root Account=tests >/dev/null
}

cat >"$folder/etc/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
# A job that is to run again is held back until its first credential has expired.
AuthInfo=socket=$folder/munge/run/sock,cred_expire=5
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/pid/slurmctld.self
SlurmdPidFile=$folder/pid/slurmd.%n.self
SlurmctldLogFile=$folder/log/slurmctld.log
SlurmdLogFile=$folder/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=5,bf_interval=5,batch_sched_delay=0
MpiDefault=none
SwitchType=switch/none
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=1
MaxArraySize=10001
MinJobAge=300
SlurmctldTimeout=10
SlurmdTimeout=10
InactiveLimit=0
KillWait=3
Waittime=0
BatchStartTimeout=10
UnkillableStepTimeout=20
MessageTimeout=10
$(if [ -n "$accounting" ]; then
	echo "AccountingStorageType=accounting_storage/slurmdbd"
	echo "AccountingStorageHost=127.0.0.1"
	echo "AccountingStoragePort=$((port + 1))"
	echo "AccountingStoragePass=$folder/munge/run/sock"
	echo "AccountingStorageTRES=gres/gpu${type:+,gres/gpu:$type}"
else
	echo "AccountingStorageType=accounting_storage/none"
fi)
$([ "$gpus" -eq 0 ] || echo GresTypes=gpu)
$(for n in $(seq "$nodes"); do
	echo "NodeName=n$n NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + n + 10)) CPUs=$cpus RealMemory=2000 $gres State=UNKNOWN"
done)
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
CONF
export SLURM_CONF=$folder/etc/slurm.conf

await 120 munge -S "$folder/munge/run/sock" -n || fail "munged does not answer"
[ -z "$accounting" ] || account
daemon slurmctld slurmctld -D -f "$SLURM_CONF" -i
for n in $(seq "$nodes"); do
	mkdir -p "$folder/spool/n$n"
	daemon "slurmd.n$n" slurmd -D -f "$SLURM_CONF" -N "n$n"
done
idle() { [ "$(timeout 20 sinfo -h -N -o '%N %t' | grep -c ' idle$')" = "$nodes" ]; }
await 300 idle || fail "not all nodes are idle after five minutes"
echo "$SLURM_CONF"
