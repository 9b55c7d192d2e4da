"""Write one table of the span paper."""

from marginlab.experiments.span_report import write_span_table
from marginlab.job import job
from marginlab.results import read_results

with job(snakemake):
    write_span_table(
        snakemake.wildcards.table,
        read_results(snakemake.input),
        snakemake.params.stem,
        snakemake.params.missing,
    )
