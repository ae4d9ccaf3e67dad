"""A real Slurm on this machine for a test: munged, slurmctld and slurmd with configuration, state and sockets in a folder of their own.

No systemd, no cgroups, no accounting. Needs root, since slurmd starts jobs for others. Everything that was started is ended by stop().
"""
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import time

DAEMONS = ("munged", "slurmctld", "slurmd")
COMMANDS = ("sbatch", "squeue", "scancel", "scontrol")
SEARCHED = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"

CONFIGURATION = """
ClusterName=simtlab
SlurmctldHost={host}(127.0.0.1)
SlurmctldAddr=127.0.0.1
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,batch_sched_delay=0,bf_interval=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
SlurmdTimeout=6
BatchStartTimeout=1
SlurmctldTimeout=20
KillWait=2
MinJobAge=60
MaxArraySize=1001
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
"""
PARTITION = "PartitionName={name} Nodes={host} Default={default} MaxTime=INFINITE State=UP\n"


def missing():
    """Why there can be no cluster here; empty: there can."""
    absent = [name for name in DAEMONS + COMMANDS if not shutil.which(name, path=SEARCHED)]
    if absent:
        return f"not installed: {', '.join(absent)} (Debian: slurmctld slurmd slurm-client munge)"
    return "" if os.geteuid() == 0 else "slurmd must be started by root"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    def __init__(self, folder, cpus=2, partitions=("all",)):
        self.folder = pathlib.Path(folder)
        self.host = socket.gethostname().split(".")[0]
        self.processes = {}
        for name in ("state", "spool"):
            (self.folder / name).mkdir(parents=True)
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": SEARCHED}
        self.folder.chmod(0o755)
        # Version 1 asks for nothing while nothing is limited; what is chosen by default wants /sys/fs/cgroup, which a bare root does not have.
        (self.folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
        text = CONFIGURATION.format(
            folder=self.folder, host=self.host, cpus=cpus, controller_port=free_port(), node_port=free_port()
        )
        text += "".join(
            PARTITION.format(name=name, host=self.host, default="NO" if i else "YES")
            for i, name in enumerate(partitions)
        )
        (self.folder / "slurm.conf").write_text(text)

    def start(self):
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        # --force: the folder of a test lies below one that everybody can write to.
        self.daemon(
            "munged",
            "--foreground",
            "--force",
            f"--key-file={key}",
            f"--socket={self.folder}/munge.socket",
            f"--pid-file={self.folder}/munged.pid",
            f"--log-file={self.folder}/munged.log",
            f"--seed-file={self.folder}/munged.seed",
        )
        self.wait_for(lambda: (self.folder / "munge.socket").exists(), "munged's socket")
        self.daemon("slurmctld", "-D")
        self.start_node()
        self.wait_for(lambda: self.node_state() == "idle", "an idle node")

    def start_node(self, *more):
        """-b: as after a restart of the machine."""
        self.daemon("slurmd", "-D", "-N", self.host, *more)

    def daemon(self, name, *args):
        out = open(self.folder / f"{name}.out", "ab")
        self.processes[name] = subprocess.Popen(
            [shutil.which(name, path=SEARCHED), *args],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
        out.close()

    def run(self, *args):
        return subprocess.run(args, env={**os.environ, **self.environment}, capture_output=True, text=True, timeout=60)

    def node_state(self):
        return self.run("sinfo", "--noheader", "--format=%T").stdout.strip()

    def wait_for(self, condition, what, seconds=60):
        end = time.time() + seconds
        while not condition():
            for name, process in self.processes.items():
                if process.poll() is not None:
                    raise RuntimeError(f"{name} ended while waiting for {what}:\n{self.logs()}")
            if time.time() > end:
                raise RuntimeError(f"no {what} after {seconds} s:\n{self.logs()}")
            time.sleep(0.05)

    def logs(self):
        return "".join(
            f"--- {p.name}\n{p.read_text(errors='replace')[-3000:]}\n"
            for p in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out"))
        )

    def steps(self):
        """Processes of our slurmd's jobs: they lead sessions of their own, and name our configuration in their environment."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                environment = (entry / "environ").read_bytes()
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if f"SLURM_CONF={self.folder}/slurm.conf".encode() in environment and b"slurmstepd" in words:
                found.append(int(entry.name))
        return found

    def stop(self):
        if "slurmctld" in self.processes:
            self.run("scancel", "--user=root", "--signal=KILL")
            self.run("scancel", "--user=root")
            end = time.time() + 10
            while self.steps() and time.time() < end:
                time.sleep(0.1)
        for name in ("slurmd", "slurmctld", "munged"):
            process = self.processes.pop(name, None)
            if process is None:
                continue
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pid in self.steps():
            os.kill(pid, signal.SIGKILL)
