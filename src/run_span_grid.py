"""Train the grid of one data set; estimates, cross-validation and test error of each model."""

from marginlab.datasets.prepared import read_prepared
from marginlab.experiments.span_grid import run_grid
from marginlab.files import write_csv
from marginlab.job import job

with job(snakemake):
    p = snakemake.params
    frame = run_grid(
        read_prepared(snakemake.input.data),
        p.grid,
        snakemake.wildcards.kind,
        p.folds,
        p.seed,
        p.run,
    )
    write_csv(frame, snakemake.output[0])
