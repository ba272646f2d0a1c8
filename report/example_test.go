package report_test

import (
	"bytes"
	"fmt"
	"os"

	"graft/internal/files"
	"graft/report"
	"graft/report/document"
	"graft/report/figure"
	"graft/report/plot"
	"graft/report/runs"
	"graft/simulation/tables/tabletest"
)

// The example opens a run folder, prints its outcome, and draws its figures into memory.
func Example() {
	folder, err := os.MkdirTemp("", "table")
	must(err)
	defer os.RemoveAll(folder)
	must(tabletest.Folder(folder, "demo", 2, 4, 1))

	run, err := runs.Open(files.OS{}, folder)
	must(err)
	for _, q := range report.NewRunReport(run).Quantities {
		fmt.Printf("%s: %s%s\n", q.Quantity, document.ValueText(q.Mean, q.Unit), document.UnitText(q.Unit))
	}
	for _, kind := range plot.Kinds(plot.Given{}) {
		for _, group := range kind.Groups([]*runs.Run{run}) {
			drawings, err := kind.Draw(group)
			must(err)
			for _, d := range drawings {
				var svg bytes.Buffer
				must(figure.Render(&svg, d.Figure, figure.Options{}))
				fmt.Println(kind.Name, bytes.HasPrefix(svg.Bytes(), []byte("<svg")))
			}
		}
	}
	// Output:
	// sequences: 4
	// best_accuracy: 69.06%
	// mean_accuracy: 65.10%
	// worst_accuracy: 61.56%
	// tree true
	// ranks true
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
