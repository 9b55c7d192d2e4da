"""Set the span paper's sentences beside what this run found."""

import pandas as pd

from marginlab.experiments.span_claims import Evidence, judge_claims
from marginlab.files import write_csv
from marginlab.job import job
from marginlab.results import read_results

with job(snakemake):
    names = ("by_class", "by_score", "premise", "times", "growth")
    evidence = Evidence(**{name: read_results(snakemake.input.get(name, [])) for name in names})
    claims = pd.read_csv(snakemake.input.claims)
    write_csv(judge_claims(claims, evidence), snakemake.output[0])
