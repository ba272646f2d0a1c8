// Package trace is about traces of jobs: what users gave a cluster to do, and when. It
// reads the formats that clusters and their simulators publish, writes them, makes
// traces from a seed, and says what in a trace is odd. It knows nothing of schedulers.
package trace
