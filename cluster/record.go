package cluster

// JobRecord holds what a policy knows of a job beyond what every outcome has.
type JobRecord interface {
	// Columns names the further columns of a table of jobs; nil needs none. If one job of an
	// outcome needs them, all get them.
	Columns() []string
	// AppendCells adds the cells of these columns to a row, each behind a comma.
	AppendCells(row []byte, j *Job) []byte
	// Count adds the job to counts of a summary, by their names.
	Count(counts map[string]int)
	// String says in a few words what was special; empty is nothing.
	String() string
}
