"""Verdicts: every published number and claim beside ours; what this run was made with."""

CLAIM_PAPERS = ("subsvms", "span", "mrc", "chain")


rule compare_published:
    """Put paper 1's published numbers beside ours, with a verdict each."""
    input:
        published="config/published/subsvms_tables.csv",
        tidy=[*S1_RUNS, *S1_BASELINES],
    output:
        scores=f"{R}/compare/published_scores.csv",
        times=f"{R}/compare/published_times.csv",
        figure=shown(
            figure_files("compare", "published_scores"),
            "compare",
            "Figure: published scores against ours",
            "published_scores",
        ),
    log:
        f"{R}/logs/compare_published.log",
    benchmark:
        f"{R}/benchmarks/compare_published.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        figure=lambda wildcards: f"{F}/compare/published_scores",
        code=script_hash("compare_published"),
    message:
        "Comparing with the published numbers"
    script:
        "../src/compare_published.py"


rule summarise_verdicts:
    """Count the verdicts by table and paper; list all claims with their evidence."""
    input:
        scores=rules.compare_published.output.scores,
        times=rules.compare_published.output.times,
        claims=expand(f"{R}/compare/{{paper}}_claims.csv", paper=CLAIM_PAPERS),
    output:
        summary=shown(
            expand(f"{R}/compare/summary.{{ending}}", ending=TABLE),
            "compare",
            "Table: summary of verdicts",
            "summary",
        ),
        claims=shown(
            expand(f"{R}/compare/claims.{{ending}}", ending=TABLE),
            "compare",
            "Table: claims with evidence",
            "claims",
        ),
    log:
        f"{R}/logs/summarise_verdicts.log",
    benchmark:
        f"{R}/benchmarks/summarise_verdicts.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        papers=CLAIM_PAPERS,
        summary=lambda wildcards: f"{R}/compare/summary",
        claims=lambda wildcards: f"{R}/compare/claims",
        code=script_hash("summarise_verdicts"),
    message:
        "Counting verdicts"
    script:
        "../src/summarise_verdicts.py"


rule render_deviations:
    """Render the register of deviations as a table."""
    input:
        "config/deviations.yaml",
    output:
        shown(
            expand(f"{R}/compare/deviations.{{ending}}", ending=TABLE),
            "compare",
            "Table: deviations from the papers",
            "deviations",
        ),
    log:
        f"{R}/logs/render_deviations.log",
    benchmark:
        f"{R}/benchmarks/render_deviations.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        table=lambda wildcards: f"{R}/compare/deviations",
        code=script_hash("render_deviations"),
    message:
        "Rendering the register of deviations"
    script:
        "../src/render_deviations.py"


rule record_provenance:
    """Record versions, machine, seed, commit and the prepared data's sums."""
    input:
        rules.list_data.input,
    output:
        shown(
            expand(f"{R}/compare/provenance.{{ending}}", ending=TABLE),
            "compare",
            "Table: provenance",
            "provenance",
        ),
    log:
        f"{R}/logs/record_provenance.log",
    benchmark:
        f"{R}/benchmarks/record_provenance.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        run=RUN,
        seed=SEED,
        table=lambda wildcards: f"{R}/compare/provenance",
        code=script_hash("record_provenance"),
    message:
        "Recording what the run was made with"
    script:
        "../src/record_provenance.py"


rule collect_runtimes:
    """Sum time and memory by rule, from the benchmark files of this run."""
    input:
        rules.subsvms.input,
        rules.span.input,
        rules.mrc.input,
        rules.chain.input,
        rules.summarise_verdicts.output,
    output:
        table=shown(
            expand(f"{R}/compare/time_rules.{{ending}}", ending=TABLE),
            "compare",
            "Table: time and memory by rule",
            "time_rules",
        ),
        figure=shown(
            figure_files("compare", "time_rules"),
            "compare",
            "Figure: where the time goes",
            "time_rules",
        ),
    log:
        f"{R}/logs/collect_runtimes.log",
    benchmark:
        f"{R}/benchmarks/collect_runtimes.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        folder=lambda wildcards: f"{R}/benchmarks",
        table=lambda wildcards: f"{R}/compare/time_rules",
        figure=lambda wildcards: f"{F}/compare/time_rules",
        code=script_hash("collect_runtimes"),
    message:
        "Summing run times"
    script:
        "../src/collect_runtimes.py"


rule compare:
    """Target: verdicts, deviations, run times, provenance."""
    input:
        rules.compare_published.output,
        rules.summarise_verdicts.output,
        rules.render_deviations.output,
        rules.record_provenance.output,
        rules.collect_runtimes.output,
