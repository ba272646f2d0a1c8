// Package events is a discrete-event kernel: a [Heap] whose entries can be moved and removed, and a [Kernel], which
// keeps typed events in a heap and advances a clock from one to the next.
//
// Everything is deterministic. A heap orders its entries by a [Key] of three numbers. A kernel orders its events by
// time, then by priority, then by the order of scheduling. Nothing here reads a wall clock or draws a random number.
// Neither type is safe for concurrent use.
package events
