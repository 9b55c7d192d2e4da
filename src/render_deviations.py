"""The register of deviations as a table."""

from marginlab.experiments.run_record import read_deviations
from marginlab.job import job
from marginlab.tables import write_table

with job(snakemake):
    write_table(
        read_deviations(snakemake.input[0]),
        snakemake.params.table,
        "Where we differ from a paper or its text is open, and why",
    )
