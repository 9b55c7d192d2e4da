"""Eta, its bounds and the sample sizes of paper 1's theory."""

from marginlab.experiments.subsvms_figures import draw_theory
from marginlab.job import job

with job(snakemake):
    draw_theory(snakemake.params.stem)
