S3 = config["mrc"]
S3_PARTS = ("binary", "multiclass", "convergence", "growth", "checks", "frontier")
S3_SETS = available(sorted({job["dataset"] for part in S3_PARTS for job in S3[part]}))
S3_JOBS = {job["name"]: job for part in S3_PARTS for job in S3[part] if job["dataset"] in S3_SETS}


def mrc_tables(*parts):
    """Result files of the jobs of some parts whose data can be had."""
    names = [job["name"] for part in parts for job in S3[part] if job["name"] in S3_JOBS]
    return expand(f"{R}/mrc/{{job}}.csv", job=names)


def mrc_memory(wildcards):
    """The full linear programs through PuLP need up to 8 GB, the rest little."""
    runs = S3_JOBS[wildcards.job]["runs"]
    return S3["defaults"]["memory_mb"] + 1000 if "lp-cbc" in runs else 4000


wildcard_constraints:
    job="|".join(S3_JOBS),


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


rule mrc:
    """Target: tables and figures of paper 3."""
    input:
        mrc_tables(*S3_PARTS),
