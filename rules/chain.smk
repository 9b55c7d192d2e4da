"""The chain of all three: corrupt, correct, weigh and choose, bound the risk (none of the papers has it)."""

CHAIN = config["chain"]
CHAIN_SETS = available(CHAIN["datasets"])
CHAIN_NOISE = [(float(a), float(rho)) for a in CHAIN["alphas"] for rho in CHAIN["rhos"]]
CHAIN_STEPS = ("labels", "svm", "mrc")
CHAIN_TABLES = {
    "summary": "Table: the chain in one view",
    "label_recovery": "Table: label recovery",
    "learners_bac": "Table: balanced accuracy of every learner",
    "learners_error": "Table: test error of every learner",
    "selection": "Table: chosen models",
    "certificate": "Table: does the certificate hold",
    "ccg_against_lp": "Table: generation and full linear program",
    "time_steps": "Table: seconds of each step",
}
CHAIN_FIGURES = {
    "label_recovery": "Figure: label recovery",
    "bac_by_noise": "Figure: balanced accuracy by label errors",
    "gain_by_dataset": "Figure: gain by data set",
    "selection": "Figure: chosen models",
    "certificate": "Figure: does the certificate hold",
    "time_steps": "Figure: seconds of each step",
}


rule correct_chain:
    """Chain, step 1: SubSVMs vote on corrupted labels and correct them."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
        noise=[noise_file(alpha, rho) for alpha, rho in CHAIN_NOISE],
    output:
        labels=f"{R}/chain/{{dataset}}/labels.npz",
        table=f"{R}/chain/{{dataset}}/labels.csv",
    log:
        f"{R}/logs/correct_chain/{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/correct_chain/{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        noise=CHAIN_NOISE,
        settings=CHAIN,
        run=RUN,
        seed=SEED,
        code=script_hash("correct_chain"),
    message:
        "Chain: correcting the labels of {wildcards.dataset}"
    script:
        "../src/correct_chain.py"


rule tune_chain:
    """Chain, step 2: weighted SVMs with weights from the votes, chosen by the span-rule."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
        labels=f"{R}/chain/{{dataset}}/labels.npz",
    output:
        table=f"{R}/chain/{{dataset}}/svm.csv",
    log:
        f"{R}/logs/tune_chain/{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/tune_chain/{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        settings=CHAIN,
        run=RUN,
        seed=SEED,
        code=script_hash("tune_chain"),
    message:
        "Chain: weighted SVMs on {wildcards.dataset}"
    script:
        "../src/tune_chain.py"


rule bound_chain:
    """Chain, step 3: minimax risk classifiers by generation and in full, with certificates."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
        labels=f"{R}/chain/{{dataset}}/labels.npz",
    output:
        table=f"{R}/chain/{{dataset}}/mrc.csv",
    log:
        f"{R}/logs/bound_chain/{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/bound_chain/{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        settings=CHAIN,
        run=RUN,
        seed=SEED,
        code=script_hash("bound_chain"),
    message:
        "Chain: minimax risks on {wildcards.dataset}"
    script:
        "../src/bound_chain.py"


rule report_chain:
    """Tables and figures of the chain."""
    input:
        rows=expand(f"{R}/chain/{{dataset}}/{{step}}.csv", dataset=CHAIN_SETS, step=CHAIN_STEPS),
    output:
        [
            shown(table_files("chain", name), "chain", title, "chain_table")
            for name, title in CHAIN_TABLES.items()
        ],
        [
            shown(figure_files("chain", name), "chain", title, f"chain_{name}")
            for name, title in CHAIN_FIGURES.items()
        ],
    log:
        f"{R}/logs/report_chain/all.log",
    benchmark:
        f"{R}/benchmarks/report_chain/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    params:
        tables=lambda wildcards: f"{R}/tables/chain",
        figures=lambda wildcards: f"{F}/chain",
        settings=CHAIN,
        code=script_hash("report_chain"),
    message:
        "Chain: tables and figures"
    script:
        "../src/report_chain.py"


rule judge_chain:
    """Answer the chain's questions by its own evidence."""
    input:
        published="config/published/chain_claims.csv",
        rows=expand(f"{R}/chain/{{dataset}}/{{step}}.csv", dataset=CHAIN_SETS, step=CHAIN_STEPS),
    output:
        claims=f"{R}/compare/chain_claims.csv",
    log:
        f"{R}/logs/judge_chain/all.log",
    benchmark:
        f"{R}/benchmarks/judge_chain/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        settings=CHAIN,
        code=script_hash("judge_chain"),
    message:
        "Chain: questions and answers"
    script:
        "../src/judge_chain.py"


rule chain:
    """Target: tables, figures and answers of the chain of all three papers."""
    input:
        rules.report_chain.output,
        rules.judge_chain.output,
