"""Introductions and examples that --help prints."""

from __future__ import annotations

__all__ = ["BOUND", "COMPARE", "CORRECT", "DATASETS", "DOCTOR", "INTRO", "PREDICT", "START", "TUNE"]

INTRO = """\
Learning with guarantees on your own data: correct noisy labels (SubSVMs), choose the
weights and C of an SVM (span-rule), bound the error of a classifier (minimax risk).
"""
START = """\
examples:
  marginlab correct data.csv --out corrected.csv    correct labels by SubSVMs' votes
  marginlab correct data.csv --simulate             would SubSVMs help on this data?
  marginlab tune data.csv --out model.npz           choose class weights, C and gamma
  marginlab bound data.csv --save model.npz         a classifier and its worst-case error
  marginlab predict model.npz new.csv               use a saved model
  marginlab doctor                                  check the installation

FILE is CSV (comma, semicolon, tab), LIBSVM or Parquet, or - for standard input; it may be
compressed (gzip, bzip2, xz). Files written are compressed if their names end in .gz, .bz2
or .xz (data.csv.gz); models are .npz.
Exit codes: 0 done, 1 a mistake or a failed check, 2 wrong usage, 3 a defect of marginlab.
"""
CORRECT = """\
examples:
  marginlab correct data.csv --label outcome --out corrected.csv --votes votes.csv
  marginlab correct data.csv --simulate
  marginlab correct data.csv --test trusted.csv
  marginlab correct train.libsvm --json --quiet > summary.json
  zcat data.csv.gz | marginlab correct - --label -1 --out - > corrected.csv

Does it help on my data? With some labels that you trust: --test FILE. Without: --simulate
takes your labels for the truth, corrupts them on purpose and measures what comes back.
If they are noisy already, that understates what correction does.
"""
TUNE = """\
examples:
  marginlab tune data.csv
  marginlab tune data.csv --test test.csv --out model.npz
  marginlab tune data.csv --weight quality            scores of the rows, 0 (poor) to 1 (good)
  marginlab tune data.csv --log2-C=-2:8:2 --gamma 0.5,1,2 --class-weights 1,2,5
"""
BOUND = """\
examples:
  marginlab bound data.csv
  marginlab bound data.csv --mapping linear --test test.csv --save model.npz
  marginlab predict model.npz new.csv --out predictions.csv

The bound holds for every distribution whose feature means lie within lambda of the sample's;
a larger --lambda-0 makes that surer and the bound larger.
"""
PREDICT = """\
examples:
  marginlab predict model.npz new.csv
  marginlab predict model.npz new.csv --out predictions.csv
  marginlab predict model.npz new.csv --probabilities --out predictions.csv
  cat new.csv | marginlab predict model.npz - --json

MODEL was saved by `marginlab tune --out` or `marginlab bound --save`. If FILE has the label
column too, the error is reported. The score is above 0 for the second label (in sorted
order), below 0 for the first, and further from 0 the surer; of a model of more labels,
the largest score is predicted. --probabilities are those at which a label may be drawn so
that the worst-case error of bound holds for the draw; they are no estimates of how often
a label is right.
"""
DATASETS = """\
examples:
  marginlab datasets list
  marginlab datasets info a1a
  marginlab datasets fetch a1a splice
  marginlab datasets verify
"""
COMPARE = """\
examples:
  marginlab compare                    the papers' numbers and claims against the full run
  marginlab compare --run quick --brief
"""
DOCTOR = """\
examples:
  marginlab doctor
  marginlab doctor --json

Solves a small problem with every solver, and checks threads, BLAS, data and cache folders.
"""
