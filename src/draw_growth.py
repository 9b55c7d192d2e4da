"""Times of SubSVMs by training points and by machines."""

from marginlab.experiments.subsvms_figures import draw_growth
from marginlab.job import job

with job(snakemake):
    draw_growth(snakemake.input.rows, snakemake.params.stem)
