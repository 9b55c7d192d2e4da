"""Draw the prediction curves and the leave-one-out check."""

from marginlab.experiments.span_figures import draw_span_figures
from marginlab.job import job
from marginlab.results import read_results

with job(snakemake):
    draw_span_figures(
        read_results(snakemake.input), snakemake.params.curves, snakemake.params.folder
    )
