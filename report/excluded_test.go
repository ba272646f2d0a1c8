package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/study"
)

// Jobs that only some schedulers exclude are named as such, because the means of the schedulers are over other jobs.
func TestExcludedJobsNameTheirSchedulers(t *testing.T) {
	large := study.LeftOut{Why: "larger than its virtual cluster", Jobs: 16, Example: "3"}
	twice := study.LeftOut{Why: "duplicate ID", Jobs: 1, Example: "7"}
	o := &study.Outcome{Title: "t", Left: []study.LeftOut{twice, large},
		Schedulers: []study.Candidate{{Name: "lucid"}, {Name: "fifo"}},
		Cells: []study.CellOutcome{{Scheduler: "lucid", Left: []study.LeftOut{twice, large}},
			{Scheduler: "fifo", Left: []study.LeftOut{twice}}}}
	var b strings.Builder
	require.NoError(t, PrintStudy(o, &b))
	require.Contains(t, b.String(), "excluded: 1 job: duplicate ID, such as job 7\n")
	require.Contains(t, b.String(), "excluded under lucid: 16 jobs: larger than its virtual cluster, such as job 3; "+
		"the means of the other schedulers include such jobs\n")
}
