"""Fig. 2: accuracy of the corrected labels by number of machines."""

from marginlab.experiments.subsvms_figures import draw_synthetic
from marginlab.job import job

with job(snakemake):
    draw_synthetic(snakemake.input.rows, snakemake.params.stem)
