// Package node schedules tasks on the GPUs of one machine. [Machine] holds the state that schedulers read; [World]
// simulates a [Study] of tasks on it; an executor keeps the same state for real processes. GPU memory is a hard
// limit. GPU cores are shared: tasks that run together slow each other down according to a [Speed] model.
package node
