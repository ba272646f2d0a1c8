// Package schedulers holds the schedulers of a cluster, a small file each. They act on a
// pool only by what package cluster exports, so a new one needs nothing that these do not
// have; docs/howto/scheduler.md shows how one is written.
//
// Where a scheduler looks at every job in each round, the one here does not: it keeps jobs
// in their order with sums over parts of it, and looks only at those that change.
package schedulers
