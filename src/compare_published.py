"""Published numbers of paper 1 beside ours, with verdicts."""

import pandas as pd

from marginlab.compare import compare_scores, compare_times
from marginlab.experiments.run_record import draw_differences
from marginlab.files import write_csv
from marginlab.job import job
from marginlab.results import read_results

with job(snakemake):
    published = pd.read_csv(snakemake.input.published)
    ours = read_results(snakemake.input.tidy)
    scores = compare_scores(published, ours)
    write_csv(scores, snakemake.output.scores)
    write_csv(compare_times(published, ours), snakemake.output.times)
    draw_differences(scores, snakemake.params.figure)
