// Package schedtest is the conformance suite of schedulers. [Run] is the suite; a [Case] is a small cluster with its
// jobs, written as a script, and read from a script or drawn at random.
package schedtest
