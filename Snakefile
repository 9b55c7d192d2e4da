"""Regenerates three papers on learning with guarantees, and the chain of the three.

snakemake --cores 8                                     everything, the papers' settings
snakemake --cores 2 --configfile config/quick.yaml      the same graph in minutes
snakemake --cores 8 subsvms                             one paper: subsvms, span, mrc, chain
snakemake --list-rules                                  what every rule does
"""

from snakemake.utils import min_version

min_version("9.3")


configfile: "config/config.yaml"


report: "rules/report/workflow.rst"


include: "rules/common.smk"
include: "rules/availability.smk"
include: "rules/data.smk"
include: "rules/noise.smk"
include: "rules/subsvms.smk"
include: "rules/baselines.smk"
include: "rules/span.smk"
include: "rules/mrc.smk"
include: "rules/chain.smk"
include: "rules/compare.smk"
include: "rules/bench.smk"


rule all:
    """Regenerate every table and figure of the run (the default)."""
    default_target: True
    input:
        rules.subsvms.input,
        rules.span.input,
        rules.mrc.input,
        rules.chain.input,
        rules.compare.input,
