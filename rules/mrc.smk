S3 = config["mrc"]
S3_PARTS = ("binary", "multiclass", "convergence", "growth", "checks", "frontier")
S3_SETS = available(sorted({job["dataset"] for part in S3_PARTS for job in S3[part]}))
S3_JOBS = {job["name"]: job for part in S3_PARTS for job in S3[part] if job["dataset"] in S3_SETS}


S3_TABLES = {
    "table1_datasets": "Table I: data sets",
    "time_table2": "Table II: two classes",
    "time_table3": "Table III: many classes",
    "errors": "Table: classification errors",
    "checks": "Table: generation against the exact programs",
    "checks_classes": "Table: compact against exponential program",
    "time_frontier": "Table: where generation pays",
}
S3_FIGURES = {
    "time_figure1": "convergence",
    "time_figure2": "growth",
    "peak_memory": "growth",
    "time_frontier": "frontier",
}
S3_FIGURE_TITLES = {
    "time_figure1": "Figure 1: convergence over time",
    "time_figure2": "Figure 2: time by samples and classes",
    "peak_memory": "Figure: peak memory",
    "time_frontier": "Figure: where generation pays",
}


wildcard_constraints:
    job="|".join(S3_JOBS),
    mrc_figure="|".join(S3_FIGURES),


rule run_mrc:
    """Learn minimax risk classifiers and L1-norm SVMs by every method of a job, in turn."""
    input:
        data=lambda wildcards: f"{R}/data/{S3_JOBS[wildcards.job]['dataset']}.npz",
    output:
        table=f"{R}/mrc/{{job}}.csv",
        curves=f"{R}/mrc/curves/{{job}}.csv",
    log:
        f"{R}/logs/run_mrc/{{job}}.log",
    benchmark:
        f"{R}/benchmarks/run_mrc/{{job}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=mrc_memory,
        runtime=60,
    params:
        job=lambda wildcards: S3_JOBS[wildcards.job],
        methods=S3["methods"],
        defaults=S3["defaults"],
        run=RUN,
        seed=SEED,
        code=script_hash("run_mrc"),
    message:
        "MRC methods, job {wildcards.job}"
    script:
        "../src/run_mrc.py"


rule tabulate_mrc:
    """Make paper 3's tables of data, times, accuracy, errors and checks."""
    input:
        rows=mrc_tables(*S3_PARTS),
        listed=f"{R}/tables/data/datasets.csv",
    output:
        [
            shown(table_files("mrc", name), "mrc", title, f"mrc_{name.removeprefix('time_')}")
            for name, title in S3_TABLES.items()
        ],
    log:
        f"{R}/logs/tabulate_mrc/all.log",
    benchmark:
        f"{R}/benchmarks/tabulate_mrc/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        settings=S3,
        missing=NO_DATA,
        code=script_hash("tabulate_mrc"),
    message:
        "Tables of paper 3"
    script:
        "../src/tabulate_mrc.py"


rule draw_mrc:
    """Draw one of paper 3's figures: convergence, growth of time or memory, frontier."""
    input:
        rows=lambda wildcards: mrc_tables(S3_FIGURES[wildcards.mrc_figure]),
        curves=lambda wildcards: mrc_curves(S3_FIGURES[wildcards.mrc_figure]),
    output:
        shown(
            figure_files("mrc", "{{mrc_figure}}"),
            "mrc",
            lambda wildcards: S3_FIGURE_TITLES[wildcards.mrc_figure],
            "mrc_figures",
        ),
    log:
        f"{R}/logs/draw_mrc/{{mrc_figure}}.log",
    benchmark:
        f"{R}/benchmarks/draw_mrc/{{mrc_figure}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        figure=lambda wildcards: wildcards.mrc_figure,
        stem=lambda wildcards: f"{F}/mrc/{wildcards.mrc_figure}",
        settings=S3,
        code=script_hash("draw_mrc"),
    message:
        "Figure {wildcards.mrc_figure} of paper 3"
    script:
        "../src/draw_mrc.py"


rule weigh_mrc_claims:
    """Judge the sentences of paper 3 by what was measured."""
    input:
        claims="config/published/mrc_claims.csv",
        rows=mrc_tables(*S3_PARTS),
        curves=mrc_curves(*S3_PARTS),
    output:
        verdicts=f"{R}/compare/mrc_claims.csv",
    log:
        f"{R}/logs/weigh_mrc_claims/all.log",
    benchmark:
        f"{R}/benchmarks/weigh_mrc_claims/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        settings=S3,
        code=script_hash("weigh_mrc_claims"),
    message:
        "Verdicts on paper 3"
    script:
        "../src/weigh_mrc_claims.py"


rule mrc:
    """Target: tables and figures of paper 3."""
    input:
        [table_files("mrc", name) for name in S3_TABLES],
        [figure_files("mrc", name) for name in S3_FIGURES],
        rules.weigh_mrc_claims.output.verdicts,
