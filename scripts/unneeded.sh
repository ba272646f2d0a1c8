#!/bin/sh
# Usage: unneeded.sh LIBRARY FOLDER
#
# Makes an empty library in FOLDER for each library that LIBRARY depends on without using it. If the loader searches
# FOLDER first, it opens the empty libraries instead, and not what the real ones depend on. Debian's LibTorch depends on
# OpenCV and FFmpeg, and through them on more than 200 libraries, such as Qt and GDAL, but uses none of their symbols.
set -eu
export LC_ALL=C
library=$1 folder=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# symbols KIND FILE: the names of the symbols that a library defines or lacks, without their versions.
symbols() { nm -D "--$1-only" "$2" | awk '{ sub(/@.*/, "", $NF); print $NF }' | sort -u; }

symbols undefined "$library" >"$work/wanted"
ldd "$library" >"$work/paths"
objdump -p "$library" | awk '$1 == "NEEDED" { print $2 }' >"$work/names"

# Kept are the libraries that are used, what they depend on, and those without a known path, such as the loader.
while read -r name; do
	path=$(awk -v name="$name" '$1 == name && $2 == "=>" { print $3 }' "$work/paths")
	if [ ! -f "$path" ]; then
		echo "$name"
	elif symbols defined "$path" | comm -12 - "$work/wanted" | grep -q .; then
		echo "$name"
		ldd "$path" | awk '{ print $1 }'
	fi
done <"$work/names" >"$work/kept"

rm -rf "$folder.tmp"
mkdir -p "$folder.tmp"
{ grep -vxF -f "$work/kept" "$work/names" || true; } | while read -r name; do
	"${CXX:-c++}" -shared -nostdlib -Wl,-soname,"$name" -o "$folder.tmp/$name" -x c /dev/null
done
if LD_LIBRARY_PATH=$folder.tmp ldd -r "$library" 2>&1 | grep -E 'undefined symbol|not found|no version' >"$work/faults"; then
	echo "library: LibTorch keeps all libraries that it depends on: $(head -n 1 "$work/faults")"
	rm -f "$folder.tmp"/*
fi
rm -rf "$folder"
mv "$folder.tmp" "$folder"
