package trace

// acmeFormat is the table of jobs of the clusters Seren and Kalos of the Shanghai AI Laboratory (AcmeTrace, NSDI 2024:
// trace_seren.csv and trace_kalos.csv).
var acmeFormat = format{
	Format: Format{Name: "acme", About: "CSV of the Acme clusters Seren and Kalos (AcmeTrace)"},
	knows: func(head []byte) bool {
		return hasColumns(head, "job_id", "node_num", "gpu_num", "type", "submit_time", "start_time", "end_time",
			"queue") && !hasColumns(head, "vc")
	},
	open: func(source lines, o *Options) (rows, error) {
		t, err := readHeader(source)
		if err != nil {
			return nil, err
		}
		t.history = o.History
		return &acme{table: t}, t.bind("acme", acmeColumns)
	},
}

var acmeColumns = []column{
	{[]string{"job_id"}, true, setID},
	{[]string{"user"}, false, setUser},
	{[]string{"gpu_num"}, true, setGPUs},
	{[]string{"cpu_num"}, false, setCPUs},
	{[]string{"type"}, false, setName},
	{[]string{"state"}, false, setState},
	{[]string{"submit_time"}, true, setZonedSubmit},
	{[]string{"start_time"}, true, setZonedStart},
	{[]string{"end_time"}, true, setZonedEnd},
	{[]string{"duration"}, false, setDuration},
}

// acme computes durations from starts and ends: the column duration of Kalos also contains the waiting time.
type acme struct{ *table }

func (a *acme) next(job *Job) error {
	a.began, a.over = missing, missing
	if err := a.table.next(job); err != nil {
		return err
	}
	if a.began == missing {
		job.Duration = 0
		return nil
	}
	if a.over != missing {
		job.Duration = max(0, clamped(a.over-a.began))
	}
	h := a.record(job)
	h.Wait, h.Started = between(job.Submit, a.began)
	return nil
}

const wantZoned = "a date such as 2023-03-01 00:18:22+08:00"

func setZonedSubmit(t *table, job *Job, cell []byte) string {
	v, ok := t.dates.zoned(cell)
	if !ok {
		return wantZoned
	}
	job.Submit, t.dated = v, true
	return ""
}

func setZonedStart(t *table, _ *Job, cell []byte) string { return t.setZoned(&t.began, cell) }
func setZonedEnd(t *table, _ *Job, cell []byte) string   { return t.setZoned(&t.over, cell) }

func (t *table) setZoned(to *int64, cell []byte) string {
	v, ok := t.dates.zoned(cell)
	switch {
	case ok:
		*to = v
	case !isMissing(cell):
		return wantZoned
	}
	return ""
}
