S1_GRID = {k: v for k, v in S1["baselines"].items() if k != "peers"}
S1_PEERS = {k: v for k, v in S1["baselines"]["peers"].items() if k != "datasets"}


rule run_baselines:
    """Train paper 1's baselines on one data set: grid of SVMs, bags, cross-validation."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
        noise=S1_NOISE,
    output:
        table=f"{R}/subsvms/baselines/{{dataset}}.csv",
        grid=f"{R}/subsvms/baselines/{{dataset}}.npz",
    log:
        f"{R}/logs/run_baselines/{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/run_baselines/{{dataset}}.tsv"
    priority: 10
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=6000,
        runtime=180,
    params:
        alphas=S1_ALPHAS,
        settings=S1_GRID,
        run=RUN,
        seed=SEED,
        code=script_hash("run_baselines"),
    message:
        "Baselines on {wildcards.dataset}"
    script:
        "../src/run_baselines.py"


rule choose_blind:
    """Choose Blind-SVM's parameters: one setting for all data sets, best on average."""
    input:
        grids=expand(f"{R}/subsvms/baselines/{{dataset}}.npz", dataset=S1_SETS),
    output:
        table=f"{R}/subsvms/baselines/all_blind.csv",
        choices=f"{R}/subsvms/baselines/all_blind_choices.csv",
    log:
        f"{R}/logs/choose_blind/all.log",
    benchmark:
        f"{R}/benchmarks/choose_blind/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        run=RUN,
        code=script_hash("choose_blind"),
    message:
        "Blind-SVM"
    script:
        "../src/choose_blind.py"


rule run_peers:
    """Train today's tools for noisy labels: class weights, cleanlab, bagging of subsamples."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
        noise=S1_NOISE,
    output:
        table=f"{R}/subsvms/peers/{{dataset}}.csv",
    log:
        f"{R}/logs/run_peers/{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/run_peers/{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=60,
    params:
        alphas=S1_ALPHAS,
        settings=S1_PEERS,
        run=RUN,
        seed=SEED,
        code=script_hash("run_peers"),
    message:
        "Peers on {wildcards.dataset}"
    script:
        "../src/run_peers.py"


S1_BASELINES += expand(f"{R}/subsvms/baselines/{{dataset}}.csv", dataset=S1_SETS)
S1_BASELINES.append(rules.choose_blind.output.table)
S1_BASELINES += expand(
    f"{R}/subsvms/peers/{{dataset}}.csv",
    dataset=[name for name in S1_SETS if name in S1["baselines"]["peers"]["datasets"]],
)
