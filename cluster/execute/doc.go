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
//
// # Design
//
// One state, two drivers. Schedulers read a node.Machine and return decisions. The simulation moves it by a
// kernel of events, the executor by a clock and the ends of processes; both check decisions by the same rules.
// All decisions of a moment change the state first; then processes are brought to it once. So a task that is
// stopped and started again at one moment gets no signal, and a task waits until those that leave its device
// have ended.
//
// An event is a line before it takes effect. placed is written before the process starts, so that each
// execution of a command is in the journal; ended is on stable storage before a task that waits for it starts.
// Results are an account of events: the same code adds those of a journal and those that happen.
//
// A task is its descendants. One thread starts each task, has its affinity and lives as long, since the kernel
// kills a task when the thread that started it ends. The first process stays a zombie until its group is
// killed, so that the group's number cannot be another's. Descendants in other sessions are killed by
// cgroup.kill, or found by their environment; one look at /proc serves all tasks that have ended meanwhile.
package execute
