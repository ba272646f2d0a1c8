// Package execute runs the tasks of one machine as processes. Any scheduler of cluster/node can place them: [Run]
// keeps a [node.Machine] consistent with the processes, [Plan] shows what it would start, and [Check] lists faults
// before anything starts.
//
// Every event is written to the journal, tasks.jsonl in the run folder, before it takes effect. After a kill, the
// next executor continues from the journal: completed tasks stay completed; tasks that were running are killed with
// all of their descendants and run again. A task's completion is journaled once. A command may be executed again if
// it was interrupted after its last effect and before that journal line; the event "interrupted" reports this.
//
// A task's processes are found by their process group, their cgroup if there is one, and the environment variables
// GRAFT_NODE and GRAFT_TASK. Without a cgroup, a process that leaves the group and clears its environment escapes.
//
// # Design
//
// One state, two drivers. Schedulers read a node.Machine and return decisions. The simulation advances it with a kernel
// of events, the executor with a clock and the ends of processes; both check decisions by the same rules. All decisions
// of a moment first change the state; then the processes are reconciled once. So a task that is stopped and restarted
// at one moment gets no signal, and a task waits until the tasks that leave its device have ended.
//
// An event is journaled before it takes effect. placed is written before the process starts, so that each execution of
// a command is in the journal; ended is on stable storage before a dependent task starts. Results are an account of
// events: the same code adds journaled and new events.
//
// A task includes its descendants. Each task is started by a separate thread with the task's CPU affinity. The thread
// lives as long as the task, since the kernel kills a task when the thread that started it ends. The first process
// stays a zombie until its group is killed, so that the group's number is not reused. Descendants in other sessions
// are killed by cgroup.kill, or found by their environment; one scan of /proc covers all tasks that have ended since
// the last scan.
package execute
