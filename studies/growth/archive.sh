#!/bin/sh
# Keeps the growth study's runs in the repository, without weights and logs.
#
#   studies/growth/archive.sh pack [FAMILY…]    from runs into studies/growth/results
#   studies/growth/archive.sh unpack [FAMILY…]  back into runs, after a check of the digests
#
# A family is a folder of runs/growth, or 'operations': the runs of all families at equal operations, in runs/operations.
# Without families, all of them. After unpack, 'graft report' reads the runs. The runs of runs/growth are from a version
# without adapt.split, so 'graft pipeline studies/growth/growth.toml' needs another folder: --folder runs/again.
set -eu
cd "$(dirname "$0")/../.."
runs=${RUNS:-runs}
results=studies/growth/results
usage() { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 64; }

# folders prints the files and folders of a family.
folders() {
  case $1 in
    operations) echo operations ;;
    *) echo "growth/$1 growth/tuning/$1 growth/tuned/$1.json growth/tuned/$1.toml" ;;
  esac
}

pack() {
  mkdir -p "$results"
  for family in "$@"; do
    for folder in $(folders "$family"); do
      if [ ! -e "$runs/$folder" ]; then
        echo "archive.sh: $runs/$folder is missing; run 'graft pipeline studies/growth/growth.toml" \
          "--only $family' first, or 'graft pipeline studies/growth/operations.toml'" >&2
        exit 1
      fi
    done
    (cd "$runs" && find $(folders "$family") -type f ! -name '*.safetensors' ! -name '*lock' ! -name log.jsonl \
      ! -name streams.json ! -name progress.json ! -name fleet.json ! -path '*/checkpoints/*' ! -path '*/leases/*' \
      ! -path '*/logs/*' ! -path '*/workers/*') >"$results/all"
    # Only trials with an outcome: another machine runs the others from the beginning.
    sed -n 's|/outcome.json$||p' "$results/all" | grep /trials/ >"$results/ended"
    awk 'NR == FNR { ended[$0]; next }
      { folder = $0; sub("/[^/]*$", "", folder) } !/\/trials\// || folder in ended' \
      "$results/ended" "$results/all" | studies/pack.sh "$runs" "$results/$family"
    rm "$results/all" "$results/ended"
  done
  (cd "$results" && sha256sum -- *.tar.gz >SHA256SUMS)
  ls -l "$results"
}

unpack() {
  for family in "$@"; do
    sums=$(grep " $family.tar.gz\$" "$results/SHA256SUMS") || {
      echo "archive.sh: $results/SHA256SUMS has no $family.tar.gz" >&2
      exit 1
    }
    (cd "$results" && echo "$sums" | sha256sum -c -)
  done
  mkdir -p "$runs"
  for family in "$@"; do
    tar -C "$runs" --skip-old-files -xzf "$results/$family.tar.gz"
  done
}

[ $# -gt 0 ] || usage
command=$1
shift
case $command in
  pack) [ $# -gt 0 ] || set -- $(cd "$runs/growth/tuning" && echo *) operations; pack "$@" ;;
  unpack) [ $# -gt 0 ] || set -- $(cd "$results" && echo *.tar.gz | sed 's/\.tar\.gz//g'); unpack "$@" ;;
  *) usage ;;
esac
