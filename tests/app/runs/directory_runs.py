# SPDX-FileCopyrightText: 2026 The Bellwether developers
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the folders and files that whole runs write to: nothing of the user or of another run is lost.

    directory_runs.py CASE PROGRAM MPIRUN      CASE: kept_files"""

from runs import main


def contents(folder):
    """Returns every file below a folder, byte for byte."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def kept_files(runs):
    """`report --out` replaces only pages and empty files. It refuses others before it draws."""
    runs.train("run", 1, 16, 4, every=2)
    before = contents(runs.folder)
    report = [runs.program, "report", "run", "--out"]
    for name in ("run/statistics/segment_000000.h5", "run/statistics.h5", "run/checkpoints/step_4/replicated.h5",
                 "run/checkpoints/step_4/manifest", "run/deck.resolved.yaml", "run/starts.txt", "run/.lock"):
        told = runs.refuse(report + [name])
        assert told.startswith(f"error: {name}: is in the run's directory {runs.folder.resolve()}/run, where only a name"), told
    (runs.folder / "page.html").symlink_to("run/stop")
    (runs.folder / "run/shown.html").symlink_to("../run.yaml")
    for name in ("run/stop", "page.html"):
        assert runs.refuse(report + [name]).endswith("that ends in .html is allowed; name another file"), name
    for name in ("run.yaml", "vocab.txt", "text.txt", "run/shown.html"):
        told = runs.refuse(report + [name])
        assert told == f"error: {name}: exists and is not an HTML page; allowed: a new file, or an HTML page to replace", told
    assert {path: held for path, held in contents(runs.folder).items() if path.name != "shown.html"} == before
    # These may be replaced. The interpreter is missing, so that nothing is drawn.
    for name, text in (("old.html", "\n<!DOCTYPE HTML>\n<title>"), ("old", "\ufeff<html lang=en>"), ("empty", "")):
        (runs.folder / name).write_text(text, encoding="utf-8")
        assert "BELLWETHER_PYTHON names another" in runs.refuse(report + [name], 1, BELLWETHER_PYTHON="/none")
        assert (runs.folder / name).read_text(encoding="utf-8") == text


if __name__ == "__main__":
    main(globals())
