# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Emulates hosts on one machine, with links of a given rate. Each host is a network namespace; veth pairs connect the hosts
to a bridge in a separate namespace, and tbf limits both directions of a link. Needs root, ip and tc. Changes only what it
created, and always removes that together with the processes in it. After a SIGKILL, the next network removes the remains."""

import concurrent.futures
import contextlib
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
MOST_HOSTS = 254  # addresses of one /24 subnet
CLONE_NEWNET = 0x40000000  # from Linux's sched.h
SEGMENT = 1448  # maximum bytes of payload
FRAME_OVERHEAD = 14 + 20 + 32  # bytes of Ethernet, IPv4 and TCP headers with timestamps
BURST = 256 << 10  # bytes that an idle limited link passes at full speed
AGENT = pathlib.Path(__file__).resolve().parent / "agent"


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True, **more).stdout


def processes_of(namespace):
    """Returns the PIDs of a namespace; empty if it does not exist."""
    told = subprocess.run(["ip", "netns", "pids", namespace], check=False, capture_output=True, text=True)
    return [int(number) for number in told.stdout.split()]


def missing():
    """Explains why a network cannot be created here; empty if it can."""
    if os.geteuid() != 0:
        return "not root"
    for tool in ("ip", "tc"):
        if shutil.which(tool) is None:
            return f"no {tool} (Debian: iproute2)"
    name = f"bwtry{os.getpid()}"
    try:
        with removing(lambda: delete(name)):
            run("ip", "netns", "add", name)
            run("ip", "-n", name, "link", "add", "near", "type", "veth", "peer", "name", "far")
            run("ip", "netns", "exec", name, "tc", "qdisc", "add", "dev", "near", "root", "tbf", "rate", "10mbit", "burst", "64kb",
                "latency", "50ms")
    except subprocess.CalledProcessError as error:
        return f"{' '.join(error.cmd)}: {error.stderr.strip()}"
    return ""


def delete(namespace):
    subprocess.run(["ip", "netns", "del", namespace], check=False, capture_output=True)


def opened_in(namespace, names):
    """Opens files of /proc/net inside a namespace and returns their descriptors."""
    def enter_and_open():
        place = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
        try:
            if ctypes.CDLL(None, use_errno=True).setns(place, CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"setns to {namespace}")
        finally:
            os.close(place)
        for name in names:
            opened.append(os.open(f"/proc/thread-self/net/{name}", os.O_RDONLY))

    opened = []
    try:
        with concurrent.futures.ThreadPoolExecutor(1) as pool:  # only this thread enters the namespace
            pool.submit(enter_and_open).result()
    except OSError:
        for file in opened:
            os.close(file)
        raise
    return opened


def text_of(descriptor):
    """Returns the current contents of such a file."""
    return os.pread(descriptor, 1 << 16, 0).decode()


def collect():
    """Removes the namespaces and processes that killed scripts have left behind."""
    left = set()
    for line in run("ip", "netns", "list").splitlines():
        name = line.split()[0] if line else ""
        named = re.fullmatch(r"bwtry(\d+)|bw(\d+)(?:h\d+|hub)", name)
        maker = named and (named[1] or named[2])
        if maker is None or pathlib.Path(f"/proc/{maker}").exists():
            continue
        for number in processes_of(name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        delete(name)
        left.add(maker)
    for maker in left:
        for folder in pathlib.Path(tempfile.gettempdir()).glob(f"bw{maker}_*"):
            shutil.rmtree(folder, ignore_errors=True)


class Network:
    """`hosts` namespaces with addresses 10.77.0.1 and up; see network()."""

    def __init__(self, hosts):
        self.hosts = range(1, hosts + 1)
        self.prefix = f"bw{os.getpid()}h"
        self.hub = f"bw{os.getpid()}hub"
        # One subfolder per host for the launcher and its daemons. The path is short, because it is part of socket names.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=f"bw{os.getpid()}_"))
        for host in self.hosts:
            (self.folder / str(host)).mkdir()
        self.counters = []  # per host: open files of its interface and TCP counters

    def make(self):
        run("ip", "netns", "add", self.hub)
        run("ip", "-n", self.hub, "link", "add", "bridge", "type", "bridge")
        run("ip", "-n", self.hub, "link", "set", "bridge", "up")
        for host in self.hosts:
            name = f"{self.prefix}{host}"
            run("ip", "netns", "add", name)
            run("ip", "-n", self.hub, "link", "add", f"port{host}", "type", "veth", "peer", "name", "eth0", "netns", name)
            run("ip", "-n", self.hub, "link", "set", f"port{host}", "master", "bridge", "up")
            run("ip", "-n", name, "addr", "add", f"10.77.0.{host}/24", "dev", "eth0")
            for link in ("eth0", "lo"):
                run("ip", "-n", name, "link", "set", link, "up")
            self.counters.append(opened_in(name, ("dev", "snmp")))

    def processes(self):
        """Returns the PIDs of all hosts."""
        return [number for host in self.hosts for number in processes_of(f"{self.prefix}{host}")]

    def end_processes(self, patience=5):
        """Ends all processes with SIGTERM, and after `patience` seconds with SIGKILL."""
        for how in (signal.SIGTERM, signal.SIGKILL):
            for number in self.processes():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, how)
            until = time.monotonic() + patience
            while self.processes() and time.monotonic() < until:
                time.sleep(0.05)

    def remove(self):
        self.end_processes()
        for files in self.counters:  # open files keep their namespace alive
            for file in files:
                os.close(file)
        self.counters.clear()
        for name in [f"{self.prefix}{host}" for host in self.hosts] + [self.hub]:
            delete(name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def limit(self, megabits):
        """Limits both directions of every link; 0: no limit."""
        for host in self.hosts:
            for name, link in ((f"{self.prefix}{host}", "eth0"), (self.hub, f"port{host}")):
                tc = ["ip", "netns", "exec", name, "tc", "qdisc"]
                subprocess.run(tc + ["del", "dev", link, "root"], check=False, capture_output=True)
                if megabits:
                    run(*tc, "add", "dev", link, "root", "tbf", "rate", f"{megabits}mbit", "burst", BURST, "latency", "100ms")

    def sent_by_all(self):
        """Returns, for every host, the payload bytes sent so far, and the part that TCP retransmitted. Reads files that are
        already open, because starting a program in each namespace would take too long."""
        counters = []
        for interfaces, protocols in self.counters:
            link = re.search(r"^ *eth0:(.*)", text_of(interfaces), re.MULTILINE)[1].split()
            keys, counts = (line.split() for line in text_of(protocols).splitlines() if line.startswith("Tcp:"))
            octets, packets = int(link[8]), int(link[9])
            counters.append((octets - packets * FRAME_OVERHEAD, int(counts[keys.index("RetransSegs")]) * SEGMENT))
        return counters

    def command(self, program, hosts=None):
        """Returns the command line and environment to launch one rank on each of `hosts` (default: all), as on a cluster."""
        hosts = list(hosts or self.hosts)
        words = ["ip", "netns", "exec", f"{self.prefix}{hosts[0]}", "mpirun", "-np", len(hosts), "--host",
                 ",".join(f"10.77.0.{host}:1" for host in hosts), "--bind-to", "none",
                 # Daemons of Open MPI 4 map the hardware topology into a hole of their address space. They crash sometimes
                 # when the stack grows into it.
                 "--mca", "plm_rsh_agent", AGENT, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include",
                 "eth0", "--mca", "oob_tcp_if_include", "eth0", "--mca", "rtc_hwloc_vmhole", "none", "-x", "OMP_NUM_THREADS", *program]
        environment = os.environ | {"BELLWETHER_WIRE": self.prefix, "BELLWETHER_WIRE_FOLDER": str(self.folder),
                                    "TMPDIR": str(self.folder / str(hosts[0])), "OMP_NUM_THREADS": "1", "OMP_PROC_BIND": "false",
                                    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
                                    "OMPI_MCA_mpi_yield_when_idle": "1"}
        return [str(word) for word in words], environment


@contextlib.contextmanager
def started(*words, **more):
    """Starts a process and ends it if the body raises an exception."""
    with subprocess.Popen(*words, **more) as job:
        try:
            yield job
        except BaseException:
            job.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                job.wait(timeout=10)
            job.kill()
            raise


@contextlib.contextmanager
def removing(remove):
    """Calls remove() at the end, after an exception, and at the first signal of ENDING; ignores later signals."""
    def ignore():
        return {one: signal.signal(one, signal.SIG_IGN) for one in ENDING}

    def end(number, _):
        ignore()
        sys.exit(128 + number)

    before = {one: signal.signal(one, end) for one in ENDING}
    try:
        yield
    finally:
        ignore()
        remove()
        for one, handler in before.items():
            signal.signal(one, handler)


@contextlib.contextmanager
def network(hosts):
    """Creates a Network and removes it like removing()."""
    collect()
    made = Network(hosts)
    with removing(made.remove):
        made.make()
        yield made
