"""Data: fetch with sha256, prepare, list. Which sets there are: config/datasets.yaml."""

from marginlab.datasets.registry import entry_hash


onstart:
    jobs = workflow.dag.needrun_jobs()
    wanted = {job.wildcards.dataset for job in jobs if job.rule.name == "fetch_data"}
    lacking = [f"{name}: {NO_DATA[name]}" for name in sorted(wanted & set(NO_DATA))]
    if lacking:
        raise WorkflowError(
            f"{len(lacking)} of this run's data sets cannot be had, and unavailable is 'error': "
            + "; ".join(lacking)
            + ". Give a folder with the files (mirror or MARGINLAB_MIRROR), or set unavailable "
            "to skip, and the tables will say 'no data' for them"
        )


rule fetch_data:
    """Fetch the files of a data set and verify their sha256."""
    output:
        record=f"{R}/data/{{dataset}}.files.json",
    log:
        f"{R}/logs/fetch_data/{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/fetch_data/{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        entry=lambda wildcards: entry_hash(wildcards.dataset),
        code=script_hash("fetch_data"),
    message:
        "Fetching {wildcards.dataset}"
    script:
        "../src/fetch_data.py"


rule prepare_data:
    """Read, split, scale and check a data set against the registry."""
    input:
        record=f"{R}/data/{{dataset}}.files.json",
    output:
        data=f"{R}/data/{{dataset}}.npz",
    log:
        f"{R}/logs/prepare_data/{{dataset}}.log",
    benchmark:
        f"{R}/benchmarks/prepare_data/{{dataset}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=3000,
        runtime=10,
    params:
        entry=lambda wildcards: entry_hash(wildcards.dataset),
        code=script_hash("prepare_data"),
    message:
        "Preparing {wildcards.dataset}"
    script:
        "../src/prepare_data.py"


rule list_data:
    """List the data sets of the run: sizes, classes, and what is not to be had."""
    input:
        expand(f"{R}/data/{{dataset}}.npz", dataset=available(named_datasets(config))),
    output:
        shown(
            table_files("data", "datasets"),
            "data",
            "Table: data sets of this run",
            "datasets",
        ),
    log:
        f"{R}/logs/list_data/all.log",
    benchmark:
        f"{R}/benchmarks/list_data/all.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=5,
    params:
        missing=NO_DATA,
        table=lambda wildcards: f"{R}/tables/data/datasets",
        code=script_hash("list_data"),
    message:
        "Listing the data sets"
    script:
        "../src/list_data.py"


rule data:
    """Target: fetch, verify and prepare every data set of the run."""
    input:
        rules.list_data.output,
