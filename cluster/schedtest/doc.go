// Package schedtest is the conformance suite of schedulers. [Run] is the suite. A [Case] is a small cluster with its
// jobs, read from a script or drawn randomly.
package schedtest
