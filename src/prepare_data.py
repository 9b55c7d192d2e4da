"""Read, split, scale and check one data set; write it as one file."""

from marginlab.datasets.prepare import load_dataset
from marginlab.datasets.prepared import save_prepared
from marginlab.job import job

with job(snakemake):
    dataset = load_dataset(
        snakemake.wildcards.dataset,
        mirror=snakemake.config["mirror"],
        cache=snakemake.config["cache"],
    )
    save_prepared(dataset, snakemake.output.data)
    print(dataset.meta["name"], dataset.X_train.shape, dataset.X_test.shape)
