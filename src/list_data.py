"""Table of the data sets of this run: sizes, classes, files, and what is not to be had."""

from marginlab.datasets.record import list_data
from marginlab.job import job
from marginlab.tables import write_table

with job(snakemake):
    frame = list_data(snakemake.input, snakemake.params.missing)
    write_table(frame, snakemake.params.table, "Data sets of this run")
    print(frame.to_string(index=False))
