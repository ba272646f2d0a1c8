package cluster

// JobRecord holds the state that a policy records for a job, in addition to the results that all policies report.
type JobRecord interface {
	// Columns returns the names of additional columns in the table of jobs, or nil. If one job of an outcome has
	// these columns, all jobs have them.
	Columns() []string
	// AppendCells appends the cells of the additional columns to a row, each after a comma.
	AppendCells(row []byte, j *Job) []byte
	// Count adds the job to the counts of a summary. The map counts holds the value of each count, by name.
	Count(counts map[string]int)
	// String describes special events of the job in a few words. The text is empty if there were no special events.
	String() string
}
