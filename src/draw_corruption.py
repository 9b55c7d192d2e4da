"""Fig. 1: the corruption as a diagram."""

from marginlab.experiments.subsvms_figures import draw_corruption
from marginlab.job import job

with job(snakemake):
    draw_corruption(snakemake.params.stem)
