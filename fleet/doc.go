// Package fleet starts workers and lets them share work through a folder. It knows
// nothing of what they do.
//
// A worker is stateless: it takes a task that nobody else has, does it, commits the
// result, and looks for the next. Tasks are done at least once; results are committed
// exactly once, by files.WriteNew. [Leases] only keep two workers from doing the same
// task for nothing. So whatever happens to a worker, a node or a scheduler, it is
// enough that some worker is alive or is started again, and that is what [Fleet.Tend]
// sees to, over any [Engine].
package fleet
