// Package events is a discrete-event kernel: a [Heap] whose entries can be moved and removed,
// and a [Kernel], which keeps typed events in one such heap and moves a clock from one to the
// next.
//
// Everything is deterministic. A heap orders its entries by a [Key] of three numbers. A kernel
// orders its events by time, then by a priority, then by the order in which they were
// scheduled. Nothing here reads a wall clock, and nothing draws a random number. Neither type
// is safe for use by several goroutines.
package events
