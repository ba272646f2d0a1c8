#!/bin/sh
# Packs graft for machines without Go: program, sources and scripts of the library, manual pages,
# completions, modules in Python, licences. Equal sources give equal bytes.
# Usage: scripts/release.sh VERSION [FOLDER]; GRAFT names another program than bin/graft.
set -eu
cd "$(dirname "$0")/.."
version=$1
out=${2:-build/release}
case $version in '' | *[!A-Za-z0-9._+-]*) echo "release: a version has letters, digits and . _ + - alone, got '$version'" >&2 && exit 1 ;; esac
[ -d build/src/cgotorch ] || { echo "release: build/src/cgotorch is missing; run 'make source'" >&2 && exit 1; }

name=graft-$version-$(uname -s | tr '[:upper:]' '[:lower:]')-$(uname -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
to=$work/$name

LIBRARY=none scripts/install.sh "$to" >/dev/null
install -d "$to/scripts" "$to/build/src/cgotorch" "$to/torch"
install -m 755 scripts/library.sh scripts/unneeded.sh scripts/wheel.sh scripts/packages.sh scripts/install.sh "$to/scripts/"
install -m 644 build/src/cgotorch/*.cc build/src/cgotorch/*.h "$to/build/src/cgotorch/"
install -m 644 torch/graft.h "$to/torch/"
cp -R torch/csrc "$to/torch/"
install -m 644 scripts/release.mk "$to/Makefile"
install -d "$to/python/typed"
install -m 644 python/graft_*.py python/pyproject.toml python/example.ipynb "$to/python/"
install -m 644 python/typed/py.typed "$to/python/typed/"
install -m 644 README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md LICENSE "$to/"
# What the pages link to and their examples need. The tables of the study stay in the repository.
cp -R docs scenarios "$to/"
install -d "$to/studies"
install -m 644 studies/*.md "$to/studies/"
{
	grep -ohE '\]\(\.\./[A-Za-z][^)#:]*' docs/*.md | sed 's|.*(\.\./||'
	grep -ohE '\]\(\.\./\.\./[A-Za-z][^)#:]*' docs/howto/*.md | sed 's|.*(\.\./\.\./||'
} | sort -u | while read -r link; do
	if [ -f "$link" ]; then install -D -m 644 "$link" "$to/$link"; fi
done

# The licences of Go, whose library is in the program, and of the modules that are in the program or whose sources are packed.
install -d "$to/licenses/go"
install -m 644 "$(go env GOROOT)/LICENSE" "$to/licenses/go/"
go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}' ./runner | sort -u | while read -r module dir; do
	install -d "$to/licenses/$module"
	find "$dir" -maxdepth 1 -type f \( -iname 'LICENSE*' -o -iname 'UNLICENSE*' -o -iname 'NOTICE*' -o -iname 'COPYING*' \) -exec install -m 644 {} "$to/licenses/$module/" \;
done

mkdir -p "$out"
when=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}
LC_ALL=C tar --sort=name --mtime="@$when" --owner=0 --group=0 --numeric-owner --mode='a+rX,u+w,go-w' --format=ustar \
	-C "$work" -cf "$work/$name.tar" "$name"
gzip -9 -n "$work/$name.tar"
mv "$work/$name.tar.gz" "$out/"
(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
echo "$out/$name.tar.gz"
