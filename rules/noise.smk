rule corrupt_labels:
    """Flip training labels as an adversary would (Fig. 1), one file per data set and direction."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
    output:
        noise=f"{R}/noise/{{dataset}}/alpha{{alpha}}_rho{{rho}}.npz",
    log:
        f"{R}/logs/corrupt_labels/{{dataset}}_alpha{{alpha}}_rho{{rho}}.log",
    benchmark:
        f"{R}/benchmarks/corrupt_labels/{{dataset}}_alpha{{alpha}}_rho{{rho}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        repeats=config["subsvms"]["repeats"],
        seed=SEED,
        code=script_hash("corrupt_labels"),
    message:
        "Corrupting {wildcards.dataset}: alpha {wildcards.alpha}, rho {wildcards.rho}"
    script:
        "../src/corrupt_labels.py"
