#!/usr/bin/env bash
# Starts and stops a Slurm of one node, by hand and as root, in a folder of its own.
#   one_node.sh start FOLDER
#   one_node.sh stop FOLDER
# Needs the Debian packages slurm-wlm and munge. Outside FOLDER it writes one link,
# /etc/slurm/slurm.conf (job steps do not inherit SLURM_CONF), and never over an existing file.
set -euo pipefail

action="${1:?start or stop}"
folder=$(realpath -m "${2:?a folder for the state}")

link=/etc/slurm/slurm.conf

start() {
  if [ -e "$link" ]; then
    echo "$link exists: this machine has a Slurm of its own; the test leaves it alone" >&2
    exit 1
  fi
  mkdir -p "$folder"/{spool,state}
  chmod 755 "$folder"
  (umask 077 && head -c 1024 /dev/urandom >"$folder/munge.key")
  munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --log-file="$folder/munged.log" --pid-file="$folder/munged.pid" \
    --seed-file="$folder/munge.seed" >&2
  local memory host
  memory=$(awk '/MemTotal/ {printf "%d", $2 / 1024 * 0.9}' /proc/meminfo)
  host=$(hostname -s)
  cat >"$folder/slurm.conf" <<CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
MinJobAge=3600
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$memory State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP DefMemPerCPU=1000
CONF
  mkdir -p /etc/slurm
  ln -sfn "$folder/slurm.conf" "$link"
  slurmctld -c >&2
  slurmd -c >&2
  for _ in $(seq 60); do
    if sinfo -h -o %T 2>/dev/null | grep -qE 'idle|mixed'; then
      return
    fi
    sleep 0.5
  done
  echo "the node did not come up; see $folder/slurmctld.log and slurmd.log" >&2
  exit 1
}

stop() {
  if [ "$(readlink "$link" || true)" = "$folder/slurm.conf" ]; then rm -f "$link"; fi
  for name in slurmd slurmctld munged; do
    if [ -s "$folder/$name.pid" ]; then kill "$(cat "$folder/$name.pid")" 2>/dev/null || true; fi
  done
}

"$action"
