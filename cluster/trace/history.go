package trace

// record returns the job's history to fill in. Without the option History, it returns one that is discarded.
func (t *table) record(job *Job) *History {
	if !t.history {
		return &t.discarded
	}
	return job.history()
}

func setNeedsType(_ *table, job *Job, cell []byte) string { return setSwitch(&job.NeedsType, cell) }
func setSpot(_ *table, job *Job, cell []byte) string      { return setSwitch(&job.Spot, cell) }

func setQOS(t *table, job *Job, cell []byte) string {
	if len(cell) > 0 {
		t.record(job).QOS = t.classes.of(cell)
	}
	return ""
}

// setWait reads a time in seconds. An empty cell means that the wait is unknown.
func setWait(t *table, job *Job, cell []byte) string {
	v, ok := seconds(cell)
	switch {
	case isMissing(cell):
		return ""
	case !ok || v < 0:
		return wantWait
	}
	h := t.record(job)
	h.Started, h.Wait = true, v
	return ""
}

const wantWait = "a number of seconds of at least 0"

func setLost(t *table, job *Job, cell []byte) string {
	v, ok := seconds(cell)
	switch {
	case isMissing(cell):
		return ""
	case !ok || v < 0:
		return wantWait
	}
	t.record(job).Lost = v
	if !t.history {
		job.addLost(v)
	}
	return ""
}

func setRestarts(t *table, job *Job, cell []byte) string {
	if isMissing(cell) {
		return ""
	}
	return setCount(&t.record(job).Restarts, cell)
}

func setNodeFailures(t *table, job *Job, cell []byte) string {
	if isMissing(cell) {
		return ""
	}
	return setCount(&t.record(job).NodeFailures, cell)
}

func setFailedNodes(t *table, job *Job, cell []byte) string {
	if len(cell) > 0 {
		t.record(job).FailedNodes = t.classes.of(cell)
	}
	return ""
}
