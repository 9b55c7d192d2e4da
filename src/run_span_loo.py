"""Check the span-rule against the true leave-one-out error, and Theorem 2's premise."""

from marginlab.datasets.prepared import read_prepared
from marginlab.experiments.span_loo import run_leave_one_out
from marginlab.files import write_csv
from marginlab.job import job

with job(snakemake):
    p = snakemake.params
    frame = run_leave_one_out(
        read_prepared(snakemake.input.data),
        p.grid,
        snakemake.wildcards.kind,
        p.models,
        p.retrain,
        p.seed,
        p.run,
    )
    write_csv(frame, snakemake.output[0])
