# Trains the job of file $1 as a task of 'graft node run', or resumes it, in a folder beneath that of the run, on
# the task's device and processors. The variable BUDGET, such as 60s, replaces the budget of the file.
folder=$GRAFT_NODE/jobs/$GRAFT_TASK
set -- "$1" --folder "$folder" --set "run.device=\"$GRAFT_DEVICE\"" --set "run.threads=$GRAFT_THREADS"
[ -n "$BUDGET" ] && set -- "$@" --set "time.budget=\"$BUDGET\""
[ -e "$folder/manifest.json" ] && set -- "$@" --resume
exec graft train "$@"
