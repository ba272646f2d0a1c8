// Package fleet starts workers and lets them share tasks through a folder. Tasks are opaque to it.
//
// A worker is stateless: it takes a free task, does it, commits the result, and takes the next task. Tasks are done at
// least once; results are committed exactly once, by files.WriteNew. [Leases] only avoid that two workers do the same
// task at once. After any failure of a worker, a node or a scheduler the batch completes as long as one worker is alive
// or restarted. [Fleet.Supervise] restarts workers, with any [Engine].
//
// # Design
//
// No process is indispensable. Workers are stateless and take tasks from a folder; each result is a file that can be
// made only once. So an engine may lose a worker, run it twice or forget it: only the results count. Engines run
// workers and report their states. They do not retry, and keep only a handle, which is data. One coordinator with a
// journal restarts lost workers by the same rules for local processes, Slurm and other engines; the conformance suite
// fleettest tests each engine.
//
// Commands keep no state. From the journal, the cache and the leases in a run folder any process can determine the
// progress of a simulation, and continue after another coordinator died. One test shows it: a grid on Slurm loses a
// worker, its coordinator and a node, and its table is byte-identical to the table of an undisturbed grid.
//
// Leases are compare-and-swap by exclusive links. The holder of a task makes the next file of a sequence at every
// heartbeat, and so does a process that takes the task over. A holder counts as dead if its files have not changed for
// long enough by the observer's own clock. The first file, TASK.0, stays over takeovers. Its text is rewritten at each
// takeover; otherwise a process that watches only this file misses it. A test that runs workers one file operation at a
// time, in random orders, found that fault.
//
// Slurm can lose jobs. A controller that is killed may lose a job and give its number to another job. So a job is
// identified by number and name, and before a submission the engine looks up live jobs with the same name.
// docs/engines.md has the measurements.
package fleet
