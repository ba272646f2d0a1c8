// Package trace handles traces of jobs: the jobs that users submitted to a cluster, with their times. It reads the
// formats that clusters and their simulators publish, writes them, generates traces from a seed, and checks traces for
// anomalies. It is independent of schedulers.
package trace
