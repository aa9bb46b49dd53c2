#!/bin/bash
# heddle regress --launcher=slurm on Debian's Slurm: a controller and two nodes on this machine, 200 runs of a stub, one
# node lost meanwhile: every result exists once. Needs root, slurm-wlm and munge.
. "$(dirname "$0")/stub.sh"
for program in python3 munged slurmctld slurmd sbatch; do
    command -v $program >/dev/null || { echo "$program not found (apt-get install slurm-wlm munge python3)"; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "Slurm's daemons need root"; exit 77; }

cluster=$work/cluster host=$(hostname -s)
port=$((20000 + $$ % 20000))
export SLURM_CONF=$cluster/slurm.conf
mkdir -p "$cluster"/{state,spool.node1,spool.node2}
chmod 755 "$work" "$cluster"
stop() { # the daemons, then what is left of their jobs
    for name in slurmd.node1 slurmd.node2 slurmctld munged; do
        [ -e "$cluster/$name.pid" ] && kill -9 "$(cat "$cluster/$name.pid")" 2>/dev/null
    done
    kill_jobs node1
    kill_jobs node2
    sleep 0.5
    rm -rf "$work"
}
kill_jobs() { # all processes of this cluster's jobs on a node, at once, parents first
    local of
    of=$(grep -lszx "SLURM_CONF=$SLURM_CONF" /proc/[0-9]*/environ)
    # shellcheck disable=SC2046,SC2086
    kill -9 $(grep -lszx "SLURMD_NODENAME=$1" $of /dev/null | cut -d/ -f3 | sort -n) 2>/dev/null
}
trap stop EXIT
head -c 1024 /dev/urandom >"$cluster/key"
chmod 600 "$cluster/key"
munged --force --socket="$cluster/munge" --key-file="$cluster/key" --pid-file="$cluster/munged.pid" \
    --log-file="$cluster/munged.log" --seed-file="$cluster/seed" 2>munged.err || { echo "munged: $(tail -1 munged.err)"; exit 77; }
cat >"$SLURM_CONF" <<END
ClusterName=heddle
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
AuthType=auth/munge
AuthInfo=socket=$cluster/munge
SlurmUser=root
StateSaveLocation=$cluster/state
SlurmdSpoolDir=$cluster/spool.%n
SlurmctldPidFile=$cluster/slurmctld.pid
SlurmdPidFile=$cluster/slurmd.%n.pid
SlurmctldLogFile=$cluster/slurmctld.log
SlurmdLogFile=$cluster/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SlurmdTimeout=6
NodeName=node1 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=4
NodeName=node2 NodeHostname=$host NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=4
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
slurmctld -f "$SLURM_CONF" && slurmd -N node1 -f "$SLURM_CONF" && slurmd -N node2 -f "$SLURM_CONF"
for _ in $(seq 60); do
    [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ] && break
    sleep 0.5
done
[ "$(sinfo --noheader --format=%T)" = idle ] || { echo "two slurmd on one machine: $(sinfo -R; tail -3 "$cluster"/*.log)"; exit 77; }
sinfo --Node --format='%N %T %c CPUs'

cat >many.json <<END
{"schema": "heddle.suite.v1", "name": "many",
 "runs": [{"networks": ["a.tflite", "b.tflite"], "seeds": [$(seq -s, 100)]}]}
END
echo "* 0 1000 1000 0.8" >rules
done_runs() { sql regress/regress.db 'SELECT count(*) FROM run' 2>/dev/null || echo 0; }
regress many.json --launcher=slurm:2 >stdout 2>stderr &
pid=$!
for _ in $(seq 600); do
    [ "$(squeue --noheader --nodelist=node2 --states=RUNNING | wc -l)" -ge 3 ] && [ "$(done_runs)" -ge 40 ] && break
    sleep 0.1
done
echo "$(done_runs) runs done, $(squeue --noheader --nodelist=node2 | wc -l) elements on node2: it is lost now"
kill -9 "$(cat "$cluster/slurmd.node2.pid")"
kill_jobs node2
wait $pid || fail "exit $?: $(tail -5 stdout stderr)"
sinfo --Node --format='%N %T'
[ "$(sinfo --noheader --Node --nodes=node2 --format=%T | tr -d '*')" = down ] || fail "node2 is not down"
[ "$(grep -c 'submitted\|_slurm_rpc_submit_batch_job' "$cluster/slurmctld.log")" -ge 2 ] || fail "no second array"
grep -i 'submit_batch_job\|not responding\|node_fail' "$cluster/slurmctld.log" | cut -c1-160 | head -12
[ "$(sql regress/regress.db 'SELECT count(*), count(DISTINCT number), sum(exit = 0), count(DISTINCT session) FROM run')" = "200|200|200|1" ] ||
    fail "results: $(sql regress/regress.db 'SELECT verdict, message, count(*) FROM run GROUP BY verdict, message')"
echo "$(started) runs started for 200 results, $(sort -u log | wc -l) of them different"
tail -2 stdout

# Ctrl-C leaves nothing in the queue
echo "* 0 1000 1000 60" >rules
set -m
"$heddle" regress many.json -o stopped --launcher=slurm --heddle="$HEDDLE_BUILD/regress_stub" --commit=c1 >stdout 2>stderr &
pid=$!
set +m
for _ in $(seq 100); do [ "$(squeue --noheader --states=RUNNING | wc -l)" -ge 4 ] && break; sleep 0.2; done
squeue --noheader --array --states=all | awk '{print $5}' | sort | uniq -c
kill -INT $pid; wait $pid
[ $? = 130 ] || fail "Ctrl-C: exit code: $(cat stderr)"
for _ in $(seq 100); do [ -z "$(squeue --noheader --states=PENDING,RUNNING)" ] && break; sleep 0.2; done
[ -z "$(squeue --noheader --states=PENDING,RUNNING)" ] || fail "Ctrl-C left: $(squeue)"
echo "after Ctrl-C: no element is pending or runs"
finish
