package trace

import "bytes"

const wantElapsed = "a time such as 1-02:03:04, 02:03:04 or 03:04"

// setElapsed reads days, hours, minutes and seconds.
func setElapsed(_ *table, job *Job, cell []byte) string {
	v, ok := slurmTime(cell)
	if !ok && !isMissing(cell) && string(cell) != "INVALID" {
		return wantElapsed
	}
	if job.Duration == 0 {
		job.Duration = v
	}
	return ""
}

// setTimelimit reads a time limit. UNLIMITED and Partition_Limit mean none that the user has set.
func setTimelimit(_ *table, job *Job, cell []byte) string {
	v, ok := slurmTime(cell)
	if !ok && !isMissing(cell) && string(cell) != "UNLIMITED" && string(cell) != "Partition_Limit" {
		return wantElapsed + ", UNLIMITED or Partition_Limit"
	}
	if job.Limit == 0 {
		job.Limit = v
	}
	return ""
}

// setLimitMinutes reads a time limit in minutes.
func setLimitMinutes(_ *table, job *Job, cell []byte) string {
	v, ok := integer(cell)
	switch {
	case string(cell) == "UNLIMITED" || string(cell) == "Partition_Limit" || isMissing(cell):
		return ""
	case !ok || v < 0 || v > maxSeconds/60:
		return "a number of minutes, UNLIMITED or Partition_Limit"
	}
	job.Limit = v * 60
	return ""
}

// slurmTime reads [DAYS-]HOURS:MINUTES:SECONDS or MINUTES:SECONDS, with a fraction that is dropped.
func slurmTime(cell []byte) (int64, bool) {
	cell, _, _ = bytes.Cut(cell, []byte("."))
	days, rest, dated := bytes.Cut(cell, []byte("-"))
	total := int64(0)
	if dated {
		d, ok := integer(days)
		if !ok || d < 0 || d > maxSeconds/secondsOfDay {
			return 0, false
		}
		total = d
	} else {
		rest = cell
	}
	parts, seconds := 0, int64(0)
	for more := true; more; parts++ {
		var part []byte
		part, rest, more = bytes.Cut(rest, []byte(":"))
		v := digits(part)
		if len(part) == 0 || len(part) > 6 || v < 0 || parts == 3 {
			return 0, false
		}
		seconds = seconds*60 + int64(v)
	}
	if parts < 2 && !dated {
		return 0, false
	}
	if dated { // after days, hours come first
		for range 3 - parts {
			seconds *= 60
		}
	}
	return total*secondsOfDay + seconds, true
}

func setSlurmSubmit(t *table, job *Job, cell []byte) string {
	v, ok := t.slurmDate(cell)
	switch {
	case ok:
		job.Submit, t.dated = v, true
	case isUnknownDate(cell):
		job.Submit = missing
	default:
		return wantSlurmDate
	}
	return ""
}

func setSlurmStart(t *table, _ *Job, cell []byte) string { return t.setSlurmDate(&t.began, cell) }
func setSlurmEnd(t *table, _ *Job, cell []byte) string   { return t.setSlurmDate(&t.over, cell) }

const wantSlurmDate = "a date such as 2026-05-01T00:03:37 or 2026-05-01T00:03:37+0200, or seconds since 1970"

// setSlurmDate reads a date. Unknown and None mean that the job has not started or ended.
func (t *table) setSlurmDate(to *int64, cell []byte) string {
	v, ok := t.slurmDate(cell)
	switch {
	case ok:
		*to = v
	case !isUnknownDate(cell):
		return wantSlurmDate
	}
	return ""
}

func isUnknownDate(cell []byte) bool { return string(cell) == "Unknown" || isMissing(cell) }

// slurmDate reads a date, or seconds since 1970, which the environment variable SLURM_TIME_FORMAT=%s selects.
func (t *table) slurmDate(cell []byte) (int64, bool) {
	if v, ok := t.dates.zoned(cell); ok {
		return v, true
	}
	v, ok := integer(cell)
	return v, ok && 0 <= v && v <= maxSeconds
}
