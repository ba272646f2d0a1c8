package trace

import (
	"bytes"
	"math"
	"slices"
)

// slurmFormat is the accounting of Slurm, as 'sacct --parsable2' or 'sacct --parsable' prints it: values separated by
// vertical bars, without quotes (sacct's manual page).
var slurmFormat = format{
	Format: Format{Name: "slurm", About: "Slurm accounting data, from 'sacct --allusers --allocations --parsable2'"},
	knows:  func(head []byte) bool { return slurmHas(head) && bytes.Contains(firstLine(head), []byte("|")) },
	open: func(source lines, _ *Options) (rows, error) {
		t, err := readHeaderOf(cells{lines: source, mark: '|'})
		if err != nil {
			return nil, err
		}
		columns := slices.Clone(slurmColumns)
		if !hasName(t.row, "JobID") && hasName(t.row, rawID) {
			columns[0].names = []string{rawID}
		}
		return &slurm{table: t}, t.bind("slurm", columns)
	},
}

// slurmHas reports whether the header has the required columns.
func slurmHas(head []byte) bool {
	line := bytes.ReplaceAll(firstLine(head), []byte("|"), []byte(","))
	return hasColumns(line, "Submit") && hasColumn(line, []string{"JobID", rawID})
}

// rawID is the column of IDs in which each job of an array has a number of its own.
const rawID = "JobIDRaw"

// hasName reports whether a row has a cell with a text.
func hasName(row [][]byte, name string) bool {
	return slices.ContainsFunc(row, func(cell []byte) bool { return string(cell) == name })
}

// The first column is the ID, which has another name if the header has only raw IDs. Columns are matched in the order
// of the header. A column that refines another one, such as ElapsedRaw, wins if it has
// a value.
var slurmColumns = []column{
	{[]string{"JobID"}, true, setID},
	{[]string{"Submit"}, true, setSubmit},
	{[]string{"AllocTRES"}, false, setTRES},
	{[]string{"ReqTRES"}, false, setRequestedTRES},
	{[]string{"User"}, false, setUser},
	{[]string{"Partition"}, false, setVC},
	{[]string{"JobName"}, false, setName},
	{[]string{"State"}, false, setSlurmState},
	{[]string{"ElapsedRaw"}, false, setDuration},
	{[]string{"Elapsed"}, false, setElapsed},
	{[]string{"Start"}, false, setSlurmStart},
	{[]string{"End"}, false, setSlurmEnd},
	{[]string{"TimelimitRaw"}, false, setLimitMinutes},
	{[]string{"Timelimit"}, false, setTimelimit},
}

// slurm reads jobs and skips their steps, whose IDs have a point.
type slurm struct{ *table }

func (s *slurm) next(job *Job) error {
	for {
		s.began, s.over = missing, missing
		if err := s.table.next(job); err != nil {
			return err
		}
		if bytes.IndexByte([]byte(job.ID), '.') >= 0 {
			continue
		}
		if job.Duration == 0 && s.began != missing && s.over != missing {
			job.Duration = max(0, clamped(s.over-s.began))
		}
		return nil
	}
}

// setTRES reads allocated resources, such as "billing=8,cpu=8,gres/gpu=2,mem=64G,node=1".
func setTRES(_ *table, job *Job, cell []byte) string {
	gpus, typed := 0, 0
	for len(cell) > 0 {
		var one []byte
		one, cell, _ = bytes.Cut(cell, []byte(","))
		name, value, _ := bytes.Cut(one, []byte("="))
		n, ok := count(value)
		switch kind := string(name); {
		case kind == "mem":
			job.RAM = slurmMemory(value)
		case kind != "cpu" && !bytes.HasPrefix(name, []byte("gres/gpu")) || bytes.HasPrefix(name,
			[]byte("gres/gpumem")) ||
			bytes.HasPrefix(name, []byte("gres/gpuutil")):
		case !ok:
			return "resources such as cpu=8,gres/gpu=2,mem=64G"
		case kind == "cpu":
			job.CPUs = n
		case kind == "gres/gpu":
			gpus = n
		default: // GPUs of one type, which gres/gpu counts too
			typed += n
		}
	}
	if gpus == 0 {
		gpus = typed
	}
	if gpus > 0 {
		job.GPUs = gpus
	}
	return ""
}

// setRequestedTRES reads requested resources, of a job that was never allocated any.
func setRequestedTRES(t *table, job *Job, cell []byte) string {
	var asked Job
	want := setTRES(t, &asked, cell)
	if job.GPUs == 0 && job.CPUs == 0 {
		job.GPUs, job.CPUs, job.RAM = asked.GPUs, asked.CPUs, asked.RAM
	}
	return want
}

// slurmMemory returns MiB, rounded up; zero if the text is not a size.
func slurmMemory(text []byte) int64 {
	if len(text) == 0 {
		return 0
	}
	scale := map[byte]float64{'K': 1.0 / 1024, 'M': 1, 'G': 1024, 'T': 1024 * 1024}[text[len(text)-1]]
	if scale == 0 {
		scale = 1
	} else {
		text = text[:len(text)-1]
	}
	v, ok := decimal(text)
	if !ok || v < 0 || v*scale > maxSeconds {
		return 0
	}
	return int64(math.Ceil(v * scale))
}

// setSlurmState reads a state without what follows it, as in "CANCELLED by 1001".
func setSlurmState(t *table, job *Job, cell []byte) string {
	first, _, _ := bytes.Cut(cell, []byte(" "))
	return setState(t, job, bytes.TrimSuffix(first, []byte("+"))) // a column cut short ends in a plus sign
}

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
	parts := bytes.Split(rest, []byte(":"))
	if len(parts) > 3 || len(parts) < 2 && !dated {
		return 0, false
	}
	seconds := int64(0)
	for _, part := range parts {
		v := digits(part)
		if len(part) == 0 || len(part) > 6 || v < 0 {
			return 0, false
		}
		seconds = seconds*60 + int64(v)
	}
	for range 3 - len(parts) { // after days, hours come first
		if dated {
			seconds *= 60
		}
	}
	return total*secondsOfDay + seconds, true
}

func setSlurmStart(t *table, _ *Job, cell []byte) string { return setSlurmDate(t, &t.began, cell) }
func setSlurmEnd(t *table, _ *Job, cell []byte) string   { return setSlurmDate(t, &t.over, cell) }

// setSlurmDate reads a date. Unknown and None mean that the job has not started or ended.
func setSlurmDate(t *table, to *int64, cell []byte) string {
	v, ok := t.dates.of(cell)
	switch {
	case ok:
		*to = v
	case string(cell) != "Unknown" && !isMissing(cell):
		return wantDate
	}
	return ""
}
