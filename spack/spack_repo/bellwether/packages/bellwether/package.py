# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""The Spack recipe of Bellwether. Its versions are those of cmake/; tests/spack compares them."""

import os
import pathlib

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Bellwether(CMakePackage, CudaPackage):
    """Pre-trains BERT where the network is the bottleneck: 1-bit LAMB and its neighbours on Kokkos and MPI."""

    # The sources are the repository of this file: a clone with a branch main, or Spack's clone of one.
    git = pathlib.Path(__file__).resolve().parents[5].as_uri()

    license("BSD-3-Clause")

    version("main", branch="main", preferred=True)
    # A release is a tag. tests/spack compares its number with CMakeLists.txt and CHANGELOG.md.
    version("0.1.0", tag="v0.1.0")

    variant("openmp", default=True, description="Threads of a rank by OpenMP")
    variant("report", default=True, description="What the command report draws with")

    generator("ninja")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    conflicts("%gcc@:10.3", msg="C++20 is needed as Kokkos 4.7 uses it")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("mpi")
    depends_on("hdf5@1.10:1.14")
    depends_on("yaml-cpp@0.7:")
    depends_on("cli11@2.1:")
    depends_on("nlohmann-json@3.11:")
    depends_on("utf8proc@2.8:")
    depends_on("xxhash@0.8:")
    depends_on("zlib-api")
    # OpenMP threads call BLAS, each with one thread: a thread pool of OpenBLAS would compete with them.
    depends_on("openblas threads=openmp", when="+openmp")
    depends_on("openblas threads=none", when="~openmp")

    depends_on("kokkos@4.7:4 +serial cxxstd=20")
    depends_on("kokkos +openmp", when="+openmp")
    depends_on("kokkos ~openmp", when="~openmp")

    with when("+cuda"):
        depends_on("cuda@12.3:")
        depends_on("nccl@2.18:")
        # A shared Kokkos would load a second CUDA runtime into the process.
        depends_on("kokkos +cuda +cmake_lang +cuda_lambda ~shared")
        depends_on("kokkos@4.7.02:", when="^cuda@13:")
        conflicts("cuda_arch=none", msg="name the GPUs that it is built for, as in cuda_arch=90")
    gpus = ("70", "72", "75", "80", "86", "87", "89", "90", "100", "120")
    for arch in CudaPackage.cuda_arch_values:
        if arch in gpus:
            depends_on(f"kokkos cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
            depends_on(f"nccl cuda_arch={arch}", when=f"+cuda cuda_arch={arch}")
        else:
            conflicts(f"cuda_arch={arch}", msg=f"cuda_arch is one of {', '.join(gpus)}")

    for drawing in ("python@3.9:", "py-h5py", "py-numpy", "py-matplotlib"):
        depends_on(drawing, type="run", when="+report")
        depends_on(drawing, type="test")
    depends_on("py-pyyaml", type="test")
    depends_on("catch2@3:", type="test")

    def cmake_args(self):
        options = [self.define("BELLWETHER_TESTS", self.run_tests)]
        if self.run_tests:
            options.append(self.define("BELLWETHER_PYTHON", self.spec["python"].command.path))
        if self.spec.satisfies("+cuda"):
            options.append(self.define("NCCL_ROOT", self.spec["nccl"].prefix))
        return options

    def check(self):
        """Runs all tests in the environment of their preset in CMakePresets.json."""
        with working_dir(self.stage.source_path):
            ctest = which(self.spec["cmake"].prefix.bin.ctest, required=True)
            preset = "openmp" if self.spec.satisfies("+openmp") else "serial"
            ctest("--preset", preset, "--test-dir", self.build_directory, f"-j{make_jobs}")

    def test_version(self):
        """the program says its version"""
        bellwether = which(self.prefix.bin.bellwether, required=True)
        said = bellwether("--version", output=str.split).lower()
        assert "bellwether" in said
        assert self.spec.satisfies("@main") or str(self.version) in said

    def test_training(self):
        """two ranks train on a text, and what they write can be read"""
        decks = join_path(self.prefix.share, "bellwether", "decks")
        text = join_path(self.prefix.share, "doc", "bellwether", "README.md")
        settings = {
            "data.train": f"[{join_path(os.getcwd(), 'shards')}]",
            "data.heldout": "[]",
            "model.vocabulary": 400,
            "batch.global": 4,
            "schedule.steps": 3,
            "schedule.warmup_steps": 1,
        }
        options = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
        # Open MPI must also start as root in a container with one core.
        lenient = {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
        }
        bellwether = which(self.prefix.bin.bellwether, required=True)
        launcher = which("mpiexec", "mpirun", path=self.spec["mpi"].prefix.bin) or which("mpiexec", "mpirun", "srun")
        if launcher is None:
            raise SkipTest("none of mpiexec, mpirun and srun is here")
        bellwether("prepare", text, "--train-vocab", "400", "--out", "shards")
        launcher("-n", "2", bellwether.path, "train", join_path(decks, "demo.yaml"), *options, extra_env=lenient)
        assert "steps" in bellwether("inspect", join_path("run", "statistics.h5"), output=str.split)
        if self.spec.satisfies("+report"):
            bellwether("report", "run")
            assert os.path.exists(join_path("run", "report.html"))
