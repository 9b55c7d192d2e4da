S2 = config["span"]
S2_CLASS = available(S2["datasets"])
S2_SCORE = available(S2["scored_datasets"])
S2_KINDS = [*(("class", name) for name in S2_CLASS), *(("score", name) for name in S2_SCORE)]
S2_LOO = available(S2["leave_one_out"]["datasets"])
S2_CURVES = {
    figure: curve
    for figure, curve in S2["curves"].items()
    if (curve["kind"], curve["dataset"]) in S2_KINDS
}
S2_TABLES = ("table1", "table2", "table3", "table4", "table5", "leave_one_out", "premise")
S2_TIME_TABLES = ("time_table6", "time_speed", "time_growth")
S2_FIGURES = ("time_fig5", "fig6", "leave_one_out", "time_by_size")


wildcard_constraints:
    kind="class|score",


def span_jobs(job, kinds=("class", "score")):
    """Tidy tables of a job over the data sets of the run."""
    return [f"{R}/span/{job}_{kind}_{name}.csv" for kind, name in S2_KINDS if kind in kinds]


S2_GROWTH = expand(f"{R}/span/growth_d{{d}}.csv", d=S2["growth"]["dimensions"])
S2_INPUTS = {
    "table1": span_jobs("grid"),
    "table2": span_jobs("grid", ["class"]),
    "table3": span_jobs("grid", ["score"]),
    "table4": span_jobs("grid"),
    "table5": span_jobs("grid"),
    "leave_one_out": span_jobs("loo"),
    "premise": span_jobs("loo"),
    "time_table6": span_jobs("times"),
    "time_speed": span_jobs("times"),
    "time_growth": S2_GROWTH,
    "time_fig5": S2_GROWTH,
    "fig6": S2_GROWTH,
    "time_by_size": span_jobs("times") + S2_GROWTH,
    **{
        figure: [f"{R}/span/grid_{curve['kind']}_{curve['dataset']}.csv"]
        for figure, curve in S2_CURVES.items()
    },
}


rule run_span_grid:
    """Train every model of a grid; span-rule, bounds, cross-validation and test error."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
    output:
        f"{R}/span/grid_{{kind}}_{{dataset}}.csv",
    log:
        f"{R}/logs/run_span_grid/{{kind}}_{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/run_span_grid/{{kind}}_{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        grid=S2["grid"],
        folds=S2["folds"],
        run=RUN,
        seed=SEED,
        code=script_hash("run_span_grid"),
    message:
        "Grid of weighted SVMs on {wildcards.dataset}, weights by {wildcards.kind}"
    script:
        "../src/run_span_grid.py"


rule run_span_loo:
    """Check the span-rule against true leave-one-out, and Theorem 2's premise."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
    output:
        f"{R}/span/loo_{{kind}}_{{dataset}}.csv",
    log:
        f"{R}/logs/run_span_loo/{{kind}}_{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/run_span_loo/{{kind}}_{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        grid=S2["grid"],
        models=S2["leave_one_out"]["models"],
        retrain=lambda wildcards: wildcards.dataset in S2_LOO,
        run=RUN,
        seed=SEED,
        code=script_hash("run_span_loo"),
    message:
        "Leave-one-out and premise on {wildcards.dataset}, weights by {wildcards.kind}"
    script:
        "../src/run_span_loo.py"


rule run_span_times:
    """Time the span-rule against cross-validation, interleaved in one thread."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
    output:
        f"{R}/span/times_{{kind}}_{{dataset}}.csv",
    log:
        f"{R}/logs/run_span_times/{{kind}}_{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/run_span_times/{{kind}}_{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        grid=S2["grid"],
        folds=S2["folds"],
        models=S2["times"]["models"],
        sampled_spans=S2["times"]["sampled_spans"],
        run=RUN,
        seed=SEED,
        code=script_hash("run_span_times"),
    message:
        "Timing on {wildcards.dataset}, weights by {wildcards.kind}"
    script:
        "../src/run_span_times.py"


rule run_span_growth:
    """Time the span-rule against cross-validation as the training set grows."""
    output:
        f"{R}/span/growth_d{{d}}.csv",
    log:
        f"{R}/logs/run_span_growth/d{{d}}.log",
    benchmark:
        f"{R}/benchmarks/run_span_growth/d{{d}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=6000,
        runtime=60,
    params:
        growth=S2["growth"],
        folds=S2["folds"],
        run=RUN,
        seed=SEED,
        code=script_hash("run_span_growth"),
    message:
        "Growing ringnorm with {wildcards.d} features"
    script:
        "../src/run_span_growth.py"


rule tabulate_span:
    """Write a table of the span paper."""
    input:
        lambda wildcards: S2_INPUTS[wildcards.table],
    output:
        report(
            expand(f"{R}/tables/span/{{{{table}}}}.{{ending}}", ending=TABLE),
            caption="report/span_table.rst",
            category="span",
            labels={"table": "{table}"},
        ),
    log:
        f"{R}/logs/tabulate_span/{{table}}.log",
    benchmark:
        f"{R}/benchmarks/tabulate_span/{{table}}.tsv"
    wildcard_constraints:
        table="|".join([*S2_TABLES, *S2_TIME_TABLES]),
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        stem=f"{R}/tables/span/{{table}}",
        missing={
            name: NO_DATA[name]
            for name in [*S2["datasets"], *S2["scored_datasets"]]
            if name in NO_DATA
        },
        code=script_hash("tabulate_span"),
    message:
        "Writing {wildcards.table} of the span paper"
    script:
        "../src/tabulate_span.py"


rule draw_span:
    """Draw a figure of the span paper."""
    input:
        lambda wildcards: (
            span_jobs("loo")
            if wildcards.figure == "leave_one_out"
            else S2_INPUTS[wildcards.figure]
        ),
    output:
        report(
            expand(f"{F}/span/{{{{figure}}}}.{{ending}}", ending=FIGURE),
            caption="report/span_figure.rst",
            category="span",
            labels={"figure": "{figure}"},
        ),
    log:
        f"{R}/logs/draw_span/{{figure}}.log",
    benchmark:
        f"{R}/benchmarks/draw_span/{{figure}}.tsv"
    wildcard_constraints:
        figure="|".join([*S2["curves"], *S2_FIGURES]),
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        stem=f"{F}/span/{{figure}}",
        dataset=lambda wildcards: S2["curves"].get(wildcards.figure, {"dataset": ""})["dataset"],
        code=script_hash("draw_span"),
    message:
        "Drawing {wildcards.figure} of the span paper"
    script:
        "../src/draw_span.py"


rule judge_span:
    """Set the span paper's sentences beside what this run found."""
    input:
        claims="config/published/span_claims.csv",
        by_class=span_jobs("grid", ["class"]),
        by_score=span_jobs("grid", ["score"]),
        premise=span_jobs("loo"),
        times=span_jobs("times"),
        growth=S2_GROWTH,
    output:
        report(
            f"{R}/compare/span_claims.csv",
            caption="report/span_claims.rst",
            category="span",
            labels={"table": "claims"},
        ),
    log:
        f"{R}/logs/judge_span/all.log",
    benchmark:
        f"{R}/benchmarks/judge_span/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        code=script_hash("judge_span"),
    message:
        "Judging the claims of the span paper"
    script:
        "../src/judge_span.py"


rule span:
    """Target: all tables, figures and claims of paper 2 (span-rule)."""
    input:
        expand(
            f"{R}/tables/span/{{table}}.{{ending}}",
            table=[*S2_TABLES, *S2_TIME_TABLES],
            ending=TABLE,
        ),
        expand(f"{F}/span/{{figure}}.{{ending}}", figure=[*S2_CURVES, *S2_FIGURES], ending=FIGURE),
        f"{R}/compare/span_claims.csv",
