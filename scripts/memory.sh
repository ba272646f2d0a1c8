#!/bin/sh
# Prints a new folder in memory for the temporary files of tests, which write thousands of small files and wait for the
# disk after each of them. It prints nothing if memory has too little space, or if programs there cannot run.
set -eu
need=4000000 # KiB that must be free, and twice as many in all memory
[ -d /dev/shm ] && [ -w /dev/shm ] || exit 0
free=$(df -kP /dev/shm | awk 'NR == 2 { print $4 }')
unused=$(awk '$1 == "MemAvailable:" { print $2 }' /proc/meminfo)
[ "${free:-0}" -ge $need ] && [ "${unused:-0}" -ge $((2 * need)) ] || exit 0
dir=$(mktemp -d /dev/shm/gXXXXXX)
chmod 755 "$dir" # for daemons of other users, such as munged
printf '#!/bin/sh\n' >"$dir/run" && chmod +x "$dir/run"
if "$dir/run" 2>/dev/null; then
  rm "$dir/run" && echo "$dir"
else
  rm -r "$dir"
fi
