package elastic

import (
	"context"
	"io"
	"path/filepath"
	"strconv"

	"graft/cluster/elastic"
	"graft/internal/files"
	"graft/report/runs"
	"graft/runner/app"
)

// record simulates a study under a scheduler and writes tables of its slots and allocations while it
// runs.
func record(ctx context.Context, env *app.Env, folder string, study elastic.Study,
	kind elastic.Kind) (result *elastic.Result, err error) {
	w, err := elastic.NewWorld(study)
	if err == nil {
		err = env.Files.MkdirAll(folder)
	}
	if err != nil {
		return nil, err
	}
	err = files.WriteAtomic(env.Files, filepath.Join(folder, runs.ElasticSlotsFile), func(slots io.Writer) error {
		return files.WriteAtomic(env.Files, filepath.Join(folder, runs.ElasticAllocationsFile),
			func(allocations io.Writer) error {
				r := recorder{slots: slots, allocations: allocations}
				r.begin()
				w.Decided = r.slot
				if result, err = w.Run(ctx, kind); err != nil {
					return err
				}
				return r.err
			})
	})
	return result, err
}

// recorder writes rows of slots. After an error it writes no more.
type recorder struct {
	slots, allocations io.Writer
	lines              []byte // of a table in a slot
	err                error
}

func (r *recorder) begin() {
	r.lines = append(r.lines, "slot,job_id,workers,servers\n"...)
	r.flush(r.allocations)
	r.lines = append(r.lines, "slot,unfinished_jobs,running_jobs,workers,servers,cpu_share,gpu_share\n"...)
	r.flush(r.slots)
}

// slot writes what a scheduler has decided.
func (r *recorder) slot(w *elastic.World) {
	running, workers, servers := 0, 0, 0
	for _, j := range w.Jobs() {
		if len(j.Workers)+len(j.Servers) > 0 {
			running, workers, servers = running+1, workers+len(j.Workers), servers+len(j.Servers)
			r.row(w.Slot(), j.ID, len(j.Workers), len(j.Servers))
			r.lines = append(r.lines, '\n')
		}
	}
	r.flush(r.allocations)
	r.row(w.Slot(), len(w.Jobs()), running, workers, servers)
	used, total := w.Used(), w.Total()
	for k := range used {
		r.lines = strconv.AppendFloat(append(r.lines, ','), float64(used[k])/float64(max(1, total[k])), 'g', 6, 64)
	}
	r.lines = append(r.lines, '\n')
	r.flush(r.slots)
}

// row appends numbers with commas between them.
func (r *recorder) row(numbers ...int) {
	for k, n := range numbers {
		if k > 0 {
			r.lines = append(r.lines, ',')
		}
		r.lines = strconv.AppendInt(r.lines, int64(n), 10)
	}
}

// flush writes the lines.
func (r *recorder) flush(to io.Writer) {
	if r.err == nil {
		_, r.err = to.Write(r.lines)
	}
	r.lines = r.lines[:0]
}
