"""Time the span-rule and cross-validation on a sample of one data set's models."""

from marginlab.datasets.prepared import read_prepared
from marginlab.experiments.span_time import run_times
from marginlab.files import write_csv
from marginlab.job import job

with job(snakemake):
    p = snakemake.params
    frame = run_times(
        read_prepared(snakemake.input.data),
        p.grid,
        snakemake.wildcards.kind,
        p.folds,
        p.models,
        p.sampled_spans,
        p.seed,
        p.run,
    )
    write_csv(frame, snakemake.output[0])
