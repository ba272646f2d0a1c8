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
  # pack writes equal bytes for equal tables: sorted names, no dates, no owners.
  pack)
    (cd "$runs" && find decades/*/table -type f ! -name '*lock' | LC_ALL=C sort) >"$kept/files"
    tar -C "$runs" --format=ustar --owner=0 --group=0 --numeric-owner --mode=644 --mtime=@0 \
      -cf "$kept/tables.tar" -T "$kept/files"
    gzip -9nf "$kept/tables.tar"
    rm "$kept/files"
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
