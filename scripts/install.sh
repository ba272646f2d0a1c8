#!/bin/sh
# Installs graft into a folder: the program, the library that it opens, manual pages, completions of
# shells, and the Python modules that read runs. GRAFT names another program than bin/graft;
# LIBRARY=none leaves the library out.
#
#   scripts/install.sh FOLDER            install
#   scripts/install.sh --remove FOLDER   remove what an installation has put there
set -eu
umask 022 # all users may read what is installed
cd "$(dirname "$0")/.."
remove=
if [ "$1" = --remove ]; then
  remove=yes
  shift
fi
to=$1
case $to in /*) ;; *) to=$PWD/$to ;; esac
if [ -d "$to" ] && [ "$(cd "$to" && pwd -P)" = "$(pwd -P)" ]; then
  echo "install: $to is the folder of graft itself; name another with PREFIX" >&2
  exit 1
fi

# writable FOLDER: the folder, or its nearest parent that exists, can be written.
writable() {
  at=$1
  while [ ! -e "$at" ]; do at=$(dirname "$at"); done
  [ -d "$at" ] && [ -w "$at" ]
}
for part in bin lib share; do
  writable "$to/$part" || {
    echo "install: cannot write into $to/$part; run as root, or name a folder of yours, such as PREFIX=\$HOME/.local" >&2
    exit 1
  }
done

# pages lists the manual pages of the program, by name.
pages() {
  dir=$(mktemp -d)
  "$1" man "$dir" >/dev/null && ls "$dir"
  rm -rf "$dir"
}

if [ -n "$remove" ]; then
  if [ ! -e "$to/bin/graft" ]; then
    echo "install: there is no graft in $to; name the folder of the installation with PREFIX" >&2
    exit 1
  fi
  for page in $(pages "$to/bin/graft"); do rm -f "$to/share/man/man1/$page"; done
  rm -f "$to/bin/graft" "$to/share/bash-completion/completions/graft" "$to/share/zsh/site-functions/_graft" \
    "$to/share/fish/vendor_completions.d/graft.fish"
  rm -rf "$to/lib/graft" "$to/share/graft"
  echo "removed graft from $to"
  exit 0
fi

graft=${GRAFT:-bin/graft}
install -d "$to/bin" "$to/share/man/man1" "$to/share/bash-completion/completions" \
  "$to/share/zsh/site-functions" "$to/share/fish/vendor_completions.d" "$to/share/graft/python/typed"
install -m 755 "$graft" "$to/bin/graft"
if [ "${LIBRARY:-}" != none ]; then
  install -d "$to/lib/graft"
  install -m 644 build/lib/libgrafttorch.so build/lib/origin "$to/lib/graft/"
  rm -rf "$to/lib/graft/unneeded"
  if [ -d build/lib/unneeded ]; then cp -r build/lib/unneeded "$to/lib/graft/"; fi
fi
install -m 644 python/graft_*.py python/pyproject.toml python/example.ipynb "$to/share/graft/python/"
install -m 644 python/typed/py.typed "$to/share/graft/python/typed/"
"$to/bin/graft" man "$to/share/man/man1"
"$to/bin/graft" completion bash >"$to/share/bash-completion/completions/graft"
"$to/bin/graft" completion zsh >"$to/share/zsh/site-functions/_graft"
"$to/bin/graft" completion fish >"$to/share/fish/vendor_completions.d/graft.fish"
echo "installed graft into $to"
