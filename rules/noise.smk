# Every direction of attack and share of errors, of paper 1 and of the chain, once.
NOISE = [(alpha, config["subsvms"]["rho"]) for alpha in ("clean", *config["subsvms"]["alphas"])]
NOISE += [(alpha, rho) for rho in config["chain"]["rhos"] for alpha in config["chain"]["alphas"]]
NOISE = list(dict.fromkeys(noise_names(alpha, rho) for alpha, rho in NOISE))


rule corrupt_labels:
    """Flip training labels as an adversary would (Fig. 1), one file a direction and share."""
    input:
        data=f"{R}/data/{{dataset}}.npz",
    output:
        noise=[noise_file(alpha, rho) for alpha, rho in NOISE],
    log:
        f"{R}/logs/corrupt_labels/{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/corrupt_labels/{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        noise=NOISE,
        repeats=config["subsvms"]["repeats"],
        seed=SEED,
        code=script_hash("corrupt_labels"),
    message:
        "Corrupting {wildcards.dataset}"
    script:
        "../src/corrupt_labels.py"
