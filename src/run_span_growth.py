"""Time the span-rule and cross-validation as ringnorm grows, for one dimension."""

from marginlab.experiments.span_growth import run_growth
from marginlab.files import write_csv
from marginlab.job import job

with job(snakemake):
    p = snakemake.params
    frame = run_growth(
        int(snakemake.wildcards.d),
        p.growth["log2_sizes"],
        p.growth,
        p.folds,
        p.growth["sampled_spans"],
        p.seed,
        p.run,
    )
    write_csv(frame, snakemake.output[0])
