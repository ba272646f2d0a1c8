// Package fleet starts workers and lets them share tasks through a folder. It does not
// know what a task is.
//
// A worker is stateless: it takes a free task, does it, commits the result, and takes the
// next. Tasks are done at least once; results are committed exactly once, by
// files.WriteNew. [Leases] only avoid that two workers do the same task at once. After
// any failure of a worker, a node or a scheduler it is enough that some worker is alive
// or is restarted. [Fleet.Tend] restarts workers, over any [Engine].
package fleet
