S2 = config["span"]
S2_CLASS = available(S2["datasets"])
S2_SCORE = available(S2["scored_datasets"])
S2_KINDS = [*(("class", name) for name in S2_CLASS), *(("score", name) for name in S2_SCORE)]
S2_LOO = available(S2["leave_one_out"]["datasets"])
S2_CURVES = {
    figure: curve["dataset"]
    for figure, curve in S2["curves"].items()
    if (curve["kind"], curve["dataset"]) in S2_KINDS
}
S2_TABLES = {
    "table1": "Table 1: data sets",
    "table2": "Table 2: test errors, class weights",
    "table3": "Table 3: test errors, weights from scores",
    "table4": "Table 4: predicted against actual error",
    "table5": "Table 5: counts a model",
    "leave_one_out": "Table: span-rule and leave-one-out error",
    "premise": "Table: where Theorem 2's premise holds",
}
S2_TIME_TABLES = {
    "time_table6": "Table 6: time of an error estimate",
    "time_speed": "Table: speed of the closed form",
    "time_growth": "Table: time by training points",
}
S2_FIGURES = {
    **{
        name: f"Figure {name.removeprefix('fig')}: error estimates on {S2_CURVES[name]}"
        for name in S2_CURVES
    },
    "leave_one_out": "Figure: span-rule and leave-one-out error",
}
S2_TIME_FIGURES = {
    "time_fig5": "Figure 5: time by training points",
    "fig6": "Figure 6: support vectors by training points",
    "time_by_size": "Figure: time by support vectors",
}
S2_MISSING = {
    name: NO_DATA[name] for name in [*S2["datasets"], *S2["scored_datasets"]] if name in NO_DATA
}
if twice := set(S2["datasets"]) & set(S2["scored_datasets"]):
    raise WorkflowError(
        f"setting 'span.scored_datasets' names {sorted(twice)[0]!r}, which is in 'span.datasets' "
        "too; name each data set in one of them"
    )


wildcard_constraints:
    kind="class|score",


S2_GROWTH = expand(f"{R}/span/growth_d{{d}}.csv", d=S2["growth"]["dimensions"])
S2_GRIDS = span_jobs("grid")
S2_CHECKS = span_jobs("loo")
S2_TIMES = span_jobs("times")


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
    """Write the tables of errors, counts and checks of the span paper."""
    input:
        grid=S2_GRIDS,
        loo=S2_CHECKS,
    output:
        [
            shown(table_files("span", name), "span", title, "span_table")
            for name, title in S2_TABLES.items()
        ],
    log:
        f"{R}/logs/tabulate_span/all.log",
    benchmark:
        f"{R}/benchmarks/tabulate_span/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        folder=lambda wildcards: f"{R}/tables/span",
        missing=S2_MISSING,
        code=script_hash("tabulate_span"),
    message:
        "Writing the tables of the span paper"
    script:
        "../src/tabulate_span.py"


rule tabulate_span_times:
    """Write the tables of times of the span paper."""
    input:
        times=S2_TIMES,
        growth=S2_GROWTH,
    output:
        [
            shown(table_files("span", name), "span", title, "span_table")
            for name, title in S2_TIME_TABLES.items()
        ],
    log:
        f"{R}/logs/tabulate_span_times/all.log",
    benchmark:
        f"{R}/benchmarks/tabulate_span_times/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        folder=lambda wildcards: f"{R}/tables/span",
        missing=S2_MISSING,
        code=script_hash("tabulate_span_times"),
    message:
        "Writing the tables of times of the span paper"
    script:
        "../src/tabulate_span_times.py"


rule draw_span:
    """Draw the prediction curves and the leave-one-out check."""
    input:
        S2_GRIDS,
        S2_CHECKS,
    output:
        [
            shown(figure_files("span", name), "span", title, "span_figure")
            for name, title in S2_FIGURES.items()
        ],
    log:
        f"{R}/logs/draw_span/all.log",
    benchmark:
        f"{R}/benchmarks/draw_span/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        folder=lambda wildcards: f"{F}/span",
        curves=S2_CURVES,
        code=script_hash("draw_span"),
    message:
        "Drawing the curves of the span paper"
    script:
        "../src/draw_span.py"


rule draw_span_times:
    """Draw times and support vectors by size."""
    input:
        S2_TIMES,
        S2_GROWTH,
    output:
        [
            shown(figure_files("span", name), "span", title, "span_figure")
            for name, title in S2_TIME_FIGURES.items()
        ],
    log:
        f"{R}/logs/draw_span_times/all.log",
    benchmark:
        f"{R}/benchmarks/draw_span_times/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        folder=lambda wildcards: f"{F}/span",
        curves={},
        code=script_hash("draw_span_times"),
    message:
        "Drawing the times of the span paper"
    script:
        "../src/draw_span_times.py"


rule judge_span:
    """Set the span paper's sentences beside what this run found."""
    input:
        claims="config/published/span_claims.csv",
        by_class=span_jobs("grid", ["class"]),
        by_score=span_jobs("grid", ["score"]),
        premise=S2_CHECKS,
        times=S2_TIMES,
        growth=S2_GROWTH,
    output:
        f"{R}/compare/span_claims.csv",
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
        rules.tabulate_span.output,
        rules.tabulate_span_times.output,
        rules.draw_span.output,
        rules.draw_span_times.output,
        rules.judge_span.output,
