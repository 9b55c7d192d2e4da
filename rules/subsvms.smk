S1 = config["subsvms"]
S1_SETS = available(S1["datasets"])
S1_ALPHAS = ["clean", *(str(float(alpha)) for alpha in S1["alphas"])]
S1_NOISE = [noise_file(alpha, S1["rho"]) for alpha in S1_ALPHAS]
S1_MODEL = {key: S1[key] for key in ("n_svms", "sample_size", "C", "gamma")}
S1_SYNTHETIC = {k: v for k, v in S1["synthetic"].items() if k not in ("dimensions", "C")}
S1_BASELINES = []  # tidy tables of the baselines; rules/baselines.smk adds its own
S1_TITLES = {
    "table2_bac": "Table 2: balanced accuracy",
    "table4_sif": "Table 4: skew-insensitive F-score",
    "table5_auc": "Table 5: area under the ROC curve",
    "table6_accuracy": "Table 6: accuracy",
    "between_alphas_bac": "Table 2 between the paper's alphas",
    "table2_l1_loss": "Table 2 under the L1 loss",
    "label_recovery": "Table: label recovery",
    "time_table3": "Table 3: training times",
    "time_table7": "Table 7: training times",
}
S1_OPTIONAL = {
    "between_alphas_bac": bool(set(S1["alphas"]) - {1.0, 0.5, 0.0}),
    "table2_l1_loss": S1["l1_loss"],
}
S1_TABLES = [name for name in S1_TITLES if S1_OPTIONAL.get(name, True)]
S1_FIGURES = ("figure1", "figure2", "theory", "time_growth")


wildcard_constraints:
    d=r"[0-9]+",
    C=r"[0-9.]+",


rule run_subsvms:
    """Train SubSVMs on corrupted labels; corrected labels, test scores, label recovery."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
        noise=S1_NOISE,
    output:
        table=f"{R}/subsvms/{{dataset}}/rows.csv",
        arrays=expand(f"{R}/subsvms/{{{{dataset}}}}/alpha{{alpha}}.npz", alpha=S1_ALPHAS),
    log:
        f"{R}/logs/run_subsvms/{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/run_subsvms/{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        alphas=S1_ALPHAS,
        settings=S1_MODEL,
        run=RUN,
        seed=SEED,
        code=script_hash("run_subsvms"),
    message:
        "SubSVMs on {wildcards.dataset}"
    script:
        "../src/run_subsvms.py"


rule run_subsvms_l1:
    """Train SubSVMs with the L1 loss on the same corrupted labels."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
        noise=S1_NOISE,
    output:
        table=f"{R}/subsvms/{{dataset}}/l1_rows.csv",
    log:
        f"{R}/logs/run_subsvms_l1/{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/run_subsvms_l1/{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        alphas=S1_ALPHAS,
        settings={**S1_MODEL, "loss": "l1"},
        run=RUN,
        seed=SEED,
        code=script_hash("run_subsvms_l1"),
    message:
        "SubSVMs with the L1 loss on {wildcards.dataset}"
    script:
        "../src/run_subsvms_l1.py"


rule run_growth:
    """Time SubSVMs by number of machines on one data set."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
    output:
        table=f"{R}/subsvms/growth/{{dataset}}.csv",
    log:
        f"{R}/logs/run_growth/{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/run_growth/{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=4000,
        runtime=30,
    params:
        n_svms=S1["growth"]["n_svms"],
        repeats=S1["growth"]["repeats"],
        settings=S1_MODEL,
        run=RUN,
        seed=SEED,
        code=script_hash("run_growth"),
    message:
        "Timing SubSVMs on {wildcards.dataset}"
    script:
        "../src/run_growth.py"


rule run_synthetic:
    """Correct corrupted labels of separable Gaussians, by number of machines (Fig. 2)."""
    output:
        table=f"{R}/subsvms/synthetic/d{{d}}_C{{C}}.csv",
    log:
        f"{R}/logs/run_synthetic/d{{d}}_C{{C}}.log",
    benchmark:
        f"{R}/benchmarks/run_synthetic/d{{d}}_C{{C}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        settings=S1_SYNTHETIC,
        run=RUN,
        seed=SEED,
        code=script_hash("run_synthetic"),
    message:
        "SubSVMs on Gaussians in {wildcards.d} dimensions, C = {wildcards.C}"
    script:
        "../src/run_synthetic.py"


S1_RUNS = expand(f"{R}/subsvms/{{dataset}}/rows.csv", dataset=S1_SETS)
S1_L1 = expand(f"{R}/subsvms/{{dataset}}/l1_rows.csv", dataset=S1_SETS)
S1_GROWTH = expand(
    f"{R}/subsvms/growth/{{dataset}}.csv", dataset=available(S1["growth"]["datasets"])
)
S1_GAUSSIANS = expand(
    f"{R}/subsvms/synthetic/d{{d}}_C{{C}}.csv",
    d=S1["synthetic"]["dimensions"],
    C=[f"{float(C):g}" for C in S1["synthetic"]["C"]],
)


rule tabulate_subsvms:
    """Make paper 1's tables of scores, label recovery and times from all measured rows."""
    input:
        rows=subsvms_rows,
    output:
        [
            shown(table_files("subsvms", name), "subsvms", S1_TITLES[name], "subsvms_table")
            for name in S1_TABLES
        ],
    log:
        f"{R}/logs/tabulate_subsvms/all.log",
    benchmark:
        f"{R}/benchmarks/tabulate_subsvms/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        tables=S1_TABLES,
        folder=lambda wildcards: f"{R}/tables/subsvms",
        datasets=S1["datasets"],
        code=script_hash("tabulate_subsvms"),
    message:
        "Tables of paper 1"
    script:
        "../src/tabulate_subsvms.py"


rule tabulate_datasets:
    """Make Table 1: the data sets' sizes against the paper's."""
    input:
        data=expand(f"{R}/data/{{dataset}}.npz", dataset=S1_SETS),
        published="config/published/subsvms_datasets.csv",
    output:
        shown(
            table_files("subsvms", "table1_datasets"),
            "subsvms",
            "Table 1: data sets",
            "subsvms_datasets",
        ),
    log:
        f"{R}/logs/tabulate_datasets/all.log",
    benchmark:
        f"{R}/benchmarks/tabulate_datasets/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        stem=lambda wildcards: f"{R}/tables/subsvms/table1_datasets",
        datasets=S1["datasets"],
        code=script_hash("tabulate_datasets"),
    message:
        "Table 1 of paper 1"
    script:
        "../src/tabulate_datasets.py"


rule draw_corruption:
    """Draw Fig. 1: the corruption as a diagram."""
    output:
        shown(
            figure_files("subsvms", "figure1"),
            "subsvms",
            "Figure 1: the corruption",
            "subsvms_figure1",
        ),
    log:
        f"{R}/logs/draw_corruption/all.log",
    benchmark:
        f"{R}/benchmarks/draw_corruption/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        stem=lambda wildcards: f"{F}/subsvms/figure1",
        code=script_hash("draw_corruption"),
    message:
        "Fig. 1 of paper 1"
    script:
        "../src/draw_corruption.py"


rule draw_synthetic:
    """Draw Fig. 2: class-balanced against uniform sampling."""
    input:
        rows=S1_GAUSSIANS,
    output:
        shown(
            figure_files("subsvms", "figure2"),
            "subsvms",
            "Figure 2: corrected labels of Gaussians",
            "subsvms_figure2",
        ),
    log:
        f"{R}/logs/draw_synthetic/all.log",
    benchmark:
        f"{R}/benchmarks/draw_synthetic/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        stem=lambda wildcards: f"{F}/subsvms/figure2",
        code=script_hash("draw_synthetic"),
    message:
        "Fig. 2 of paper 1"
    script:
        "../src/draw_synthetic.py"


rule draw_theory:
    """Draw eta, its bounds and the sample sizes of paper 1."""
    output:
        shown(
            figure_files("subsvms", "theory"),
            "subsvms",
            "Figure: theory of the sampling bias",
            "subsvms_theory",
        ),
    log:
        f"{R}/logs/draw_theory/all.log",
    benchmark:
        f"{R}/benchmarks/draw_theory/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        stem=lambda wildcards: f"{F}/subsvms/theory",
        code=script_hash("draw_theory"),
    message:
        "Theory of paper 1"
    script:
        "../src/draw_theory.py"


rule draw_growth:
    """Draw times of SubSVMs by training points and machines."""
    input:
        rows=S1_GROWTH,
    output:
        shown(
            figure_files("subsvms", "time_growth"),
            "subsvms",
            "Figure: times by rows and machines",
            "subsvms_time_growth",
        ),
    log:
        f"{R}/logs/draw_growth/all.log",
    benchmark:
        f"{R}/benchmarks/draw_growth/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        stem=lambda wildcards: f"{F}/subsvms/time_growth",
        code=script_hash("draw_growth"),
    message:
        "Times of SubSVMs"
    script:
        "../src/draw_growth.py"


rule judge_subsvms:
    """Judge the claims of paper 1's text by our evidence."""
    input:
        published="config/published/subsvms_claims.csv",
        rows=subsvms_rows,
        gaussians=S1_GAUSSIANS,
    output:
        claims=f"{R}/compare/subsvms_claims.csv",
    log:
        f"{R}/logs/judge_subsvms/all.log",
    benchmark:
        f"{R}/benchmarks/judge_subsvms/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        code=script_hash("judge_subsvms"),
    message:
        "Claims of paper 1"
    script:
        "../src/judge_subsvms.py"


rule subsvms:
    """Target: all tables, figures and verdicts of paper 1 (SubSVMs)."""
    input:
        rules.tabulate_datasets.output,
        rules.tabulate_subsvms.output,
        [figure_files("subsvms", name) for name in S1_FIGURES],
        rules.judge_subsvms.output,
