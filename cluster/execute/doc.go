// Package execute runs the tasks of one machine as processes. Any scheduler of cluster/node places them: [Run]
// keeps a [node.Machine] beside the processes, [Plan] shows what it would start, [Check] lists faults before
// anything starts.
//
// Every event is a line of the journal, tasks.jsonl in the run folder, before it takes effect. An executor that
// was killed continues from it: tasks that are done stay done; those that ran are killed with all of their
// descendants and run again. A task's completion is journaled once. Its command may be executed again
// if it was interrupted in the moment between its last effect and that line; the event interrupted says so.
//
// A task's processes are found by its process group, its cgroup where there is one, and the variables GRAFT_NODE
// and GRAFT_TASK of their environment. Without a cgroup, a process that leaves the group and clears its
// environment escapes.
package execute
