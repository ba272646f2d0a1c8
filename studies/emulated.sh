#!/bin/sh
# Recomputes tables of the study of transfer on an emulated Intel Haswell, and compares them with the kept tables, run
# by run. Root registers the emulator with Linux for a copy of graft, so that its workers are emulated too. Needs Debian's
# qemu-user. An hour per table on one processor.
#
#   studies/emulated.sh [SCENARIO…]    in the repository's folder, as root; default: three scenarios
set -eu
[ $# -gt 0 ] || set -- dense-both-short-early-all plain-shapes-short-early-all residual-textures-short-early-other
out=runs/emulated
mkdir -p $out/kept
tar -xzf studies/transfer/tables.tar.gz -C $out/kept
# The copy differs in the byte of the header that names the operating system, which the emulator does not read.
cp "${GRAFT:-bin/graft}" $out/graft
printf '\123' | dd of=$out/graft bs=1 seek=7 conv=notrunc 2>/dev/null
formats=/proc/sys/fs/binfmt_misc
[ -e $formats/register ] || mount -t binfmt_misc none $formats
magic='\x7fELF\x02\x01\x01\x53\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x3e\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfc\xff\xff\xff'
[ -e $formats/emulated ] || printf '%s' ":emulated:M::$magic:$mask:/usr/bin/qemu-x86_64:" >$formats/register
export QEMU_CPU=Haswell,-tsc-deadline,-hle,-rtm,-invpcid,-pcid,-x2apic
for scenario in "$@"; do
  $out/graft simulate "studies/transfer/$scenario.toml" --folder "$out/$scenario" --workers 1 --quiet >/dev/null
  python3 - "$out/kept/tables/$scenario/grid-1.jsonl" "$out/$scenario/table/grid-1.jsonl" <<'PY'
import json, sys

def runs(path):
    """Returns the runs of a table by sequence and seed, without keys that name the version of graft."""
    found = {}
    for line in open(path):
        run = json.loads(line).get("record")
        if run:
            found[str((run["sequence"], run["seeds"]))] = run
            for key in ("line", "key", "graft"):
                run.pop(key, None)
    return found

kept, again = map(runs, sys.argv[1:])
equal = sum(kept[k] == again.get(k) for k in kept)
print(f"{sys.argv[2]}: {equal} of {len(kept)} runs are equal")
sys.exit(equal < len(kept))
PY
done
