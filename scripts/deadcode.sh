#!/bin/sh
# Prints the functions that neither graft nor bench can reach, and fails if there is one. LibTorch calls
# graftCallStore, which the tool does not see.
set -eu
cd "$(dirname "$0")/.."
found=$(go tool deadcode -f '{{range .Funcs}}{{if ne .Name "graftCallStore"}}{{.Position}}: {{.Name}}
{{end}}{{end}}' ./runner ./bench)
[ -n "$found" ] || exit 0
echo "$found"
echo "deadcode: no command reaches these functions; delete them, or move what only tests call into test files"
exit 1
