"""Time one part of the library against its peers."""

from marginlab.experiments.bench import run_bench
from marginlab.files import write_csv
from marginlab.job import job

with job(snakemake):
    frame = run_bench(
        snakemake.wildcards.part,
        quick=snakemake.params.quick,
        mirror=snakemake.params.mirror,
        cache=snakemake.params.cache,
    )
    write_csv(frame, snakemake.output[0])
