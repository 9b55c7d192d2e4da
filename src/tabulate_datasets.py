"""Table 1: the data sets' sizes, ours and the paper's."""

from marginlab.experiments.subsvms_report import write_dataset_table
from marginlab.job import job

with job(snakemake):
    write_dataset_table(
        snakemake.input.data,
        snakemake.input.published,
        snakemake.params.stem,
        snakemake.params.datasets,
    )
