#!/bin/sh
# Packs files of runs into an archive, with equal bytes for equal files: sorted names, no dates, no owners.
#
#   studies/pack.sh RUNS ARCHIVE <LIST    the files of LIST, relative to the folder RUNS, into ARCHIVE.tar.gz
set -eu
LC_ALL=C sort | tar -C "$1" --format=ustar --owner=0 --group=0 --numeric-owner --mode=644 --mtime=@0 -cf "$2.tar" -T -
gzip -9nf "$2.tar"
