// Package schedtest holds schedulers to what must be true of each of them. [Run] is the suite;
// a [Case] is a small cluster with its jobs, written as a script, read from one or drawn at
// random.
package schedtest
