"""Time and memory of every rule, from the benchmark files of this run."""

from marginlab.experiments.run_record import write_runtimes
from marginlab.job import job

with job(snakemake):
    write_runtimes(snakemake.params.folder, snakemake.params.table, snakemake.params.figure)
