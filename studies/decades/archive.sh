#!/bin/sh
# Keeps the tables of the study of decades in the repository.
#
#   studies/decades/archive.sh pack      from runs/decades into studies/decades/tables.tar.gz
#   studies/decades/archive.sh unpack    back into runs/decades, after a check of the digest
set -eu
cd "$(dirname "$0")/../.."
runs=${RUNS:-runs}
kept=studies/decades

case ${1:-} in
  pack)
    (cd "$runs" && find decades/*/table -type f ! -name '*lock') | studies/pack.sh "$runs" "$kept/tables"
    (cd "$kept" && sha256sum tables.tar.gz >SHA256SUMS)
    ls -l "$kept/tables.tar.gz"
    ;;
  unpack)
    (cd "$kept" && sha256sum -c SHA256SUMS)
    mkdir -p "$runs"
    tar -C "$runs" --skip-old-files -xzf "$kept/tables.tar.gz"
    ;;
  *)
    sed -n '2,5s/^# \{0,1\}//p' "$0" >&2
    exit 64
    ;;
esac
