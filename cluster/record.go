package cluster

// JobRecord holds a policy's state of a job beyond the common outcome.
type JobRecord interface {
	// Columns returns the additional columns in a table of jobs; may be nil. If one job of an outcome needs them, all
	// get them.
	Columns() []string
	// AppendCells appends the cells of these columns to a row, each after a comma.
	AppendCells(row []byte, j *Job) []byte
	// Count adds the job to named counts of a summary.
	Count(counts map[string]int)
	// String describes special events in a few words; empty if none exist.
	String() string
}
