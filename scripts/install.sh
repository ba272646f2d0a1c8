#!/bin/sh
# Puts graft beneath a folder: the program, the library that it opens, manual pages, completions of
# shells, and the modules in Python that read runs. Usage: scripts/install.sh FOLDER; GRAFT names another program
# than bin/graft; LIBRARY=none leaves the library out.
set -eu
cd "$(dirname "$0")/.."
graft=${GRAFT:-bin/graft}
to=$1
case $to in /*) ;; *) to=$PWD/$to ;; esac

install -d "$to/bin" "$to/share/man/man1" "$to/share/bash-completion/completions" \
  "$to/share/zsh/site-functions" "$to/share/fish/vendor_completions.d" "$to/share/graft/python"
install -m 755 "$graft" "$to/bin/graft"
if [ "${LIBRARY:-}" != none ]; then
  install -d "$to/lib/graft"
  install -m 644 build/lib/libgrafttorch.so "$to/lib/graft/"
fi
install -m 644 python/graft_*.py python/example.ipynb "$to/share/graft/python/"
"$to/bin/graft" man "$to/share/man/man1"
"$to/bin/graft" completion bash >"$to/share/bash-completion/completions/graft"
"$to/bin/graft" completion zsh >"$to/share/zsh/site-functions/_graft"
"$to/bin/graft" completion fish >"$to/share/fish/vendor_completions.d/graft.fish"
echo "installed graft into $to"
