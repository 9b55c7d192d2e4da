"""Draw one figure of the span paper."""

from marginlab.experiments.span_report import draw_span_figure
from marginlab.job import job
from marginlab.results import read_results

with job(snakemake):
    draw_span_figure(
        snakemake.wildcards.figure,
        read_results(snakemake.input),
        snakemake.params.dataset,
        snakemake.params.stem,
    )
