// Package schedulers holds the schedulers of a cluster, one small file per scheduler. They act on a pool only through
// the exported API of package cluster, so a new scheduler needs no other API; docs/howto/scheduler.md shows how to
// write one.
//
// Published schedulers often visit every job in each round. These schedulers instead keep jobs sorted, with partial
// sums, and visit only the jobs that change.
package schedulers
