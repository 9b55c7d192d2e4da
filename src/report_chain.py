"""Tables and figures of the chain."""

from marginlab.experiments.chain_figures import draw_figures
from marginlab.experiments.chain_tables import write_tables
from marginlab.job import job
from marginlab.results import read_results

with job(snakemake):
    rows, params = read_results(snakemake.input.rows), snakemake.params
    write_tables(rows, params.tables, params.settings)
    draw_figures(rows, params.figures, params.settings)
