"""Ours against the peers: every speed claim, measured in one run (make bench)."""

BENCHES = ("data", "subsvms", "grid", "span", "mrc-samples", "mrc-classes", "mrc-text")


rule run_bench:
    """Time one part against its peers: interleaved, one thread, medians and ratios."""
    output:
        f"{R}/bench/{{part}}.csv",
    log:
        f"{R}/logs/run_bench/{{part}}.log",
    benchmark:
        f"{R}/benchmarks/run_bench/{{part}}.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=14000,
        runtime=120,
    params:
        quick=RUN == "quick",
        mirror=config["mirror"],
        cache=config["cache"],
        code=script_hash("run_bench"),
    message:
        "Timing {wildcards.part} against its peers"
    script:
        "../src/run_bench.py"


rule report_bench:
    """Table and figure of all timings against peers."""
    input:
        expand(f"{R}/bench/{{part}}.csv", part=BENCHES),
    output:
        table=shown(
            table_files("bench", "time_peers"),
            "bench",
            "Table: time and memory against peers",
            "time_peers",
        ),
        figure=shown(
            figure_files("bench", "time_peers"),
            "bench",
            "Figure: speed against peers",
            "time_peers",
        ),
    log:
        f"{R}/logs/report_bench.log",
    benchmark:
        f"{R}/benchmarks/report_bench.tsv"
    conda:
        "../environment.yml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        table=lambda wildcards: f"{R}/tables/bench/time_peers",
        figure=lambda wildcards: f"{F}/bench/time_peers",
        code=script_hash("report_bench"),
    message:
        "Writing the table of timings against peers"
    script:
        "../src/report_bench.py"


rule bench:
    """Target: every speed claim measured beside its peers."""
    input:
        rules.report_bench.output,
