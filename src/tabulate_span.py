"""Write the tables of errors, counts and checks of the span paper."""

from marginlab.experiments.span_report import write_span_tables
from marginlab.job import job
from marginlab.results import read_results

with job(snakemake):
    for name in ("grid", "loo"):
        tidy = read_results(snakemake.input.get(name, []))
        write_span_tables(name, tidy, snakemake.params.folder, snakemake.params.missing)
