"""Times of SubSVMs by number of machines, on one data set."""

from marginlab.experiments.subsvms_uci import run_growth
from marginlab.job import job

with job(snakemake):
    run_growth(
        snakemake.input.data,
        snakemake.output.table,
        n_svms=snakemake.params.n_svms,
        settings=snakemake.params.settings,
        run=snakemake.params.run,
        seed=snakemake.params.seed,
        repeats=snakemake.params.repeats,
    )
