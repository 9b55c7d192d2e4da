"""Paper 1's tables, from all measured rows."""

from marginlab.experiments.subsvms_report import write_result_tables
from marginlab.job import job

with job(snakemake):
    params = snakemake.params
    write_result_tables(params.tables, snakemake.input.rows, params.folder, params.datasets)
