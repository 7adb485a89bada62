# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests how commands start: launcher and environment, and ranks that were started differently.

    start_runs.py CASE PROGRAM MPIRUN      CASE: launchers | other_launcher | options | environment | files_alone | removed_directory"""

import json
import os
import subprocess

from runs import PATIENCE, main


def errors_of(runs, command, expected=2, **environment):
    """Returns the errors of a failing command without the ranks' prefixes. It must not print anything else."""
    return runs.refuse(command, expected, **environment).splitlines()


def apart(runs, *parts):
    """Returns a launcher command with one rank per part, each with its own command line."""
    command = [runs.mpirun, "--oversubscribe", "--bind-to", "none"]
    for number, part in enumerate(parts):
        command += ([":"] if number > 0 else []) + ["-np", "1", *part]
    return command


def launchers(runs):
    """Several ranks print a command line error once. A rank that alone has it always prints it."""
    runs.deck("run", 16, 2)
    for arguments, words in ((["train", "run.yaml", "--bad"], "unknown option '--bad'"), (["trian"], "unknown command 'trian'"),
                             (["bench", "step", "--calls", "0"], "--calls: '0'")):
        told = errors_of(runs, runs.launch(3) + [runs.program, *arguments])
        assert len(told) == 1 and words in told[0], told
    train = [runs.program, "train", "run.yaml"]
    told = errors_of(runs, apart(runs, train, train + ["--resum"]))
    assert len(told) == 1 and "unknown option '--resum' (did you mean '--resume'?)" in told[0], told
    # Each process opens files independently.
    told = runs.refuse(runs.launch(2) + [runs.program, "inspect", "none.h5"])
    assert told.count("none.h5: no such file") >= 1, told
    # MPI waits forever for a process of the job that runs another program.
    ended = subprocess.run(apart(runs, train, ["sleep", "100"]), capture_output=True, text=True, cwd=runs.folder, timeout=90,
                           env=os.environ | {"BELLWETHER_START_DEADLINE": "3"}, check=False)
    assert ended.returncode != 0, ended
    assert "error: timeout: MPI_Init_thread at start-up, not finished after 3 s; a rank of this job did not reach it" in ended.stderr, ended
    # Variables inherited from a shell in a job silence nobody, and MPI still starts.
    for variable, size in (("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"), ("FLUX_TASK_RANK", "FLUX_JOB_SIZE")):
        environment = {variable: "3", size: "4"}
        told = errors_of(runs, [runs.program, "check", "run.yaml", "--sett", "a.b=1"], **environment)
        assert len(told) == 1 and "unknown option '--sett'" in told[0], told
        told = errors_of(runs, [runs.program, "check", "none.yaml"], **environment)
        assert len(told) == 1 and "none.yaml: cannot be read" in told[0], told
        assert "has no faults" in runs.call([runs.program, "check", "run.yaml"], **environment)


def other_launcher(runs):
    """Tasks of a launcher that MPI does not know would be jobs of one rank each: every one is refused. One task in an
    allocation of several is not."""
    runs.deck("run", 16, 2)
    launcher = runs.folder / "srun"  # the name under which the system shows this process
    launcher.write_text('#!/bin/sh\nenv "$@"\nexit $?\n')
    launcher.chmod(0o755)
    commands = (["train", "run.yaml"], ["check", "run.yaml"], ["bench", "kernels", "--elements", "100"])
    pmi = ["PMI_RANK=1", "PMI_SIZE=4"]
    step = ["SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=4"]
    for variables, name in ((pmi, "PMI_SIZE"), (step + ["SLURM_STEP_ID=0"], "SLURM_STEP_NUM_TASKS")):
        for command in commands:
            told = errors_of(runs, [str(launcher), *variables, runs.program, *command])
            assert len(told) == 1 and told[0].startswith(f"error: started by a launcher with 4 tasks ({name}), but MPI sees 1 rank: "), told
            assert "the mpirun of the MPI that bellwether was built with (" in told[0], told
    assert not (runs.folder / "run").exists()
    for variables in (step, step + ["SLURM_STEP_ID=4294967290"], step + ["SLURM_STEP_ID=4294967291"], ["SLURM_NTASKS=4"],
                      ["PMI_RANK=0", "PMI_SIZE=1"], ["PMI_RANK=0", "PMI_SIZE=1", *step, "SLURM_STEP_ID=0"]):
        runs.call([str(launcher), *variables, runs.program, "check", "run.yaml"])
    runs.call([runs.program, "check", "run.yaml"], **dict(variable.split("=") for variable in pmi))  # exported, no launcher


def options(runs):
    """Commands and options that differ between ranks are rejected once, by name, before anything is read or created."""
    runs.deck("run", 16, 2)
    runs.deck("other", 16, 2)

    def refused(words, *parts):
        told = errors_of(runs, apart(runs, *([runs.program, *part] for part in parts)))
        assert len(told) == len(words), (words, told)
        for line, word in zip(told, words):
            assert line.startswith(f"error: {word}; "), (word, line)
        assert not (runs.folder / "run").exists() and not (runs.folder / "other").exists(), words

    train = ["train", "run.yaml"]
    refused(["--resume is given on rank 0 and not given on rank 1"], train + ["--resume"], train)
    refused(["--resume is not given on ranks 0 and 2 and given on rank 1"], train, train + ["--resume"], train)
    refused(["--set comm.deadline is 10 on rank 0 and 20 on rank 1"], train + ["--set", "comm.deadline=10"],
            train + ["--set", "comm.deadline=20"])
    refused(["--set run.seed is 4 on rank 0 and not given on rank 1", "--log is not given on rank 0 and json on rank 1"],
            train + ["--set", "run.seed=4", "--set", "batch.micro=8"], train + ["--set", "batch.micro=8", "--log", "json"])
    refused(["--log is lines on rank 0, json on rank 1 and not given on ranks 2 to 3"], train + ["--log", "lines"],
            train + ["--log=json"], train, train)
    refused(["deck is run.yaml on rank 0 and other.yaml on rank 1"], train, ["train", "other.yaml"])
    refused(["the command is train on rank 0 and check on rank 1"], train, ["check", "run.yaml"])
    refused(["the command is bench step on rank 0 and bench kernels on rank 1"], ["bench", "step"], ["bench", "kernels"])
    refused(["--calls is 1 on rank 0 and 2 on rank 1"], *(["bench", "kernels", "--calls", calls] for calls in "12"))
    # The order of options and the form of their values do not matter.
    runs.call(apart(runs, [runs.program, *train, "--log", "lines", "--set", "run.seed=5"],
                    [runs.program, "train", "--set=run.seed=5", "--log=lines", "run.yaml"]))
    assert len(runs.table("run")) == 2


# Variable, value, expected error. The libraries would end the program or continue with another value.
REFUSED = (
    ("KOKKOS_NUM_THREADS", "abc"), ("KOKKOS_NUM_THREADS", "0"), ("KOKKOS_NUM_THREADS", "-1"), ("KOKKOS_NUM_THREADS", ""),
    ("KOKKOS_NUM_THREADS", "4x"), ("KOKKOS_NUM_THREADS", "99999999999999999999"), ("KOKKOS_NUM_THREADS", "4294967297"),
    ("KOKKOS_DEVICE_ID", "-1"), ("KOKKOS_DEVICE_ID", "x"), ("KOKKOS_MAP_DEVICE_ID_BY", "luck"), ("KOKKOS_DISABLE_WARNINGS", "maybe"),
    ("KOKKOS_PRINT_CONFIGURATION", ""), ("KOKKOS_TUNE_INTERNALS", "2"), ("KOKKOS_VISIBLE_DEVICES", "0,x"),
    ("KOKKOS_TOOLS_LIBS", "/none/tool.so"), ("KOKKOS_PROFILE_LIBRARY", "/none/tool.so"), ("PMI_LOCAL_SIZE", "many"),
    ("OMP_NUM_THREADS", "abc"), ("OMP_NUM_THREADS", "0"), ("OMP_NUM_THREADS", "-1"), ("OMP_NUM_THREADS", ""), ("OMP_NUM_THREADS", "2,x"),
    ("OMP_THREAD_LIMIT", "0"), ("OMP_DYNAMIC", "true"), ("OMP_MAX_ACTIVE_LEVELS", "0"), ("OMP_PROC_BIND", "sideways"),
    ("OMP_PLACES", "nonsense"),
    ("OMP_WAIT_POLICY", "never"), ("OMP_STACKSIZE", "abc"), ("OMP_STACKSIZE", "-1"), ("OMP_STACKSIZE", "99999999999999999999G"),
    ("GOMP_SPINCOUNT", "x"), ("HDF5_DRIVER", "nonsense"), ("HDF5_VOL_CONNECTOR", "nonsense"), ("HDF5_USE_FILE_LOCKING", "perhaps"),
    ("BELLWETHER_START_DEADLINE", "soon"))


def environment(runs):
    """Invalid values of library variables, or values above what the library supports, are faults with name and value,
    printed once per job. A valid request is granted in full or rejected."""
    runs.deck("run", 16, 2)
    check = [runs.program, "check", "run.yaml"]
    for variable, value in REFUSED:
        told = errors_of(runs, check, **{variable: value})
        shown = value[:40]
        assert len(told) == 1 and told[0].startswith(f"error: {variable}: '{shown}") and "; allowed: " in told[0], (variable, value, told)
    told = errors_of(runs, runs.launch(2) + check, KOKKOS_NUM_THREADS="abc", KOKKOS_DISABLE_WARNINGS="maybe")
    assert len(told) == 2, told
    lone = ["env", "KOKKOS_NUM_THREADS=abc", *check]
    told = errors_of(runs, apart(runs, check, lone))
    assert len(told) == 1 and told[0].startswith("error: rank 1: KOKKOS_NUM_THREADS: 'abc'; "), told
    for name, value in (("KOKKOS_TUNE_INTERNALS", "yes"), ("KOKKOS_NUM_THREADS", " 1 "), ("OMP_NUM_THREADS", "2,1"), ("OMP_STACKSIZE", "2M"),
                        ("OMP_PROC_BIND", "spread,close"), ("OMP_DYNAMIC", "FALSE"), ("HDF5_USE_FILE_LOCKING", "BEST_EFFORT")):
        assert "has no faults" in runs.call(check, **{name: value}), name
    runs.call([runs.program, "bench", "kernels", "--elements", "100", "--calls", "1", "--warmup", "1", "--json", "bench.json"],
              OMP_NUM_THREADS="2")
    parallel = json.loads((runs.folder / "bench.json").read_text())["machine"]["threads_a_rank"] == 2  # not with Kokkos Serial
    beyond = os.sysconf("SC_NPROCESSORS_CONF")  # the first CPU that does not exist
    for variables, words in (({"KOKKOS_NUM_THREADS": "513"}, "KOKKOS_NUM_THREADS: 513 threads for a rank; allowed: 1 to 512"),
                             ({"KOKKOS_NUM_THREADS": "2", "OMP_THREAD_LIMIT": "1"}, "but OMP_THREAD_LIMIT allows 1"),
                             ({"OMP_NUM_THREADS": "2", "OMP_THREAD_LIMIT": "1"},
                              "OMP_NUM_THREADS: 2 threads for a rank, but OMP_THREAD_LIMIT allows 1; raise or unset it"),
                             ({"OMP_STACKSIZE": "20K"}, "OMP_STACKSIZE: '20K'; allowed: at least "),
                             ({"OMP_NUM_THREADS": "8", "OMP_STACKSIZE": "1000000G"}, "cannot be started: "),
                             ({"OMP_PLACES": "{99999}"}, "OMP_PLACES: '{99999}'; allowed: "),
                             ({"OMP_PLACES": "{99999}", "OMP_PROC_BIND": "true"}, "OMP_PLACES: '{99999}'; allowed: "),
                             ({"OMP_PLACES": f"{{0,{beyond}}}"}, f"OMP_PLACES: '{{0,{beyond}}}'; allowed: "),
                             ({"GOMP_CPU_AFFINITY": "99999", "OMP_PROC_BIND": "close"}, "GOMP_CPU_AFFINITY: '99999'; allowed: ")
                             ) if parallel else ():
        settings = [f"{name}={value}" for name, value in variables.items()]
        told = errors_of(runs, ["env", "-u", "OMP_PROC_BIND", "-u", "OMP_PLACES", *settings, *check])
        assert len(told) == 1 and words in told[0], (variables, told)
    other_cpus(runs, check)


def other_cpus(runs, check):
    """OpenBLAS's kernels for another CPU run on this one, or are refused once a job. SIGILL ends no process."""
    for kind in ("Bulldozer", "SkylakeX", "Nehalem"):
        for command in (check, runs.launch(2) + check):
            done = subprocess.run(command, cwd=runs.folder, capture_output=True, text=True, timeout=PATIENCE, check=False,
                                  env=os.environ | {"OPENBLAS_CORETYPE": kind})
            told = [line for line in done.stderr.splitlines() if "error: " in line]
            refused = f"error: OPENBLAS_CORETYPE: '{kind}'; allowed: a type of CPU whose instructions this CPU has; correct or unset "
            assert done.returncode == 0 if not told else done.returncode == 2, (command, kind, done)
            assert len(told) <= 1 and all(line.startswith(refused) for line in told), (command, kind, done)


def files_alone(runs):
    """Commands that compute nothing ignore the variables of libraries that they do not use."""
    shard = str(next((runs.folder / "shards").glob("*.h5")))
    strange = {variable: value for variable, value in REFUSED if not variable.startswith("HDF5_")}
    for arguments in (["inspect", shard], ["tokenize", "--vocab", "vocab.txt"], ["--help"], ["check", "--schema"],
                      ["prepare", "text.txt", "--vocab", "vocab.txt", "--out", "again", "--sequence-length", "64"]):
        done = subprocess.run([runs.program, *arguments], cwd=runs.folder, input="a word\n", capture_output=True, text=True, check=False,
                              timeout=PATIENCE, env=dict(os.environ, **strange))
        assert done.returncode == 0 and done.stdout, (arguments, done)


def removed_directory(runs):
    """A working directory that was removed is told in one line by every command, before MPI starts."""
    runs.deck("run", 16, 2)
    deck, shard = str(runs.folder / "run.yaml"), str(next((runs.folder / "shards").glob("*.h5")))
    script = 'mkdir gone && cd gone && rmdir ../gone && exec "$@"'
    for arguments in (["check", deck], ["train", deck], ["inspect", "."], ["inspect", shard], ["report", str(runs.folder / "run")],
                      ["prepare", str(runs.folder / "text.txt"), "--vocab", str(runs.folder / "vocab.txt"), "--out", "new"],
                      ["tokenize", "--vocab", str(runs.folder / "vocab.txt")], ["bench", "kernels"]):
        done = subprocess.run(["sh", "-c", script, "sh", runs.program, *arguments], cwd=runs.folder, input="", capture_output=True,
                              text=True, check=False, timeout=PATIENCE)
        assert done.returncode == 2, (arguments, done)
        assert done.stderr == "error: the working directory has been removed; cd to one that exists\n", (arguments, done)
    assert not (runs.folder / "run").exists()
    runs.call(["sh", "-c", script, "sh", runs.program, "--version"])


if __name__ == "__main__":
    main(globals())
