#!/bin/sh
# Links graft without a search path. gotorch's flags would make the program search the builder's
# module cache for libraries, before the system's folders; graft needs none of them there.
set -eu
path= # whether the next argument is the folder of a search path
for argument; do
	shift
	if [ -n "$path" ]; then
		path=
		continue
	fi
	case $argument in
	-Wl,-rpath | -Wl,-R) path=follows ;;
	-Wl,-rpath[,=]* | -Wl,-R,*) ;;
	*) set -- "$@" "$argument" ;;
	esac
done
# shellcheck disable=SC2046
exec $(go env CC) "$@"
