"""Table and figure of the timings against peers."""

from marginlab.experiments.bench import read_benches, report_benches
from marginlab.job import job

with job(snakemake):
    report_benches(read_benches(snakemake.input), snakemake.params.table, snakemake.params.figure)
