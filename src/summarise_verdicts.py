"""Counts of verdicts by table and paper, and all claims with their evidence."""

import pandas as pd

from marginlab.compare import join_claims, summarise
from marginlab.job import job
from marginlab.tables import write_table

with job(snakemake):
    claims = join_claims(dict(zip(snakemake.params.papers, snakemake.input.claims, strict=True)))
    scores, times = pd.read_csv(snakemake.input.scores), pd.read_csv(snakemake.input.times)
    write_table(
        summarise(scores, times, claims),
        snakemake.params.summary,
        "Published numbers and claims against ours: how many hold",
        "agree: within .02 (claims: holds); near: within .05 (partly); "
        "training times are compared by their order against SubSVMs.",
    )
    write_table(claims, snakemake.params.claims, "The papers' claims, our evidence, the verdict")
