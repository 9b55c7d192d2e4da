"""Versions, machine, seed and data of this run."""

from marginlab.experiments.run_record import write_provenance
from marginlab.job import job

with job(snakemake):
    params = snakemake.params
    write_provenance(params.table, params.run, params.seed, snakemake.input)
