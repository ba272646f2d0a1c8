package simulate

import (
	"path/filepath"
	"time"

	"graft/report/runs"
	"graft/simulation/grid"
)

// left returns the number of remaining legs at the last count. A count opens a file per leg, so it runs rarely.
func (x *monitor) left() (int, error) {
	x.mu.Lock()
	n, err := x.countLeft()
	x.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if n == 0 && !x.finished { // workers may take long to end; the table does not wait for them
		x.finished = true
		_, err = x.collectTable()
		return 0, err
	}
	return n, x.collectIfDue()
}

// countInterval is the minimum time between two counts, in multiples of a count's duration.
const countInterval = 50

func (x *monitor) countLeft() (int, error) {
	began := x.env.Now()
	if !x.countedAt.IsZero() && began.Sub(x.countedAt) < countInterval*x.countTook {
		return x.legsLeft, nil
	}
	ready, err := x.grid.Ready()
	x.legsLeft, x.countedAt = len(ready), x.env.Now()
	x.countTook = x.countedAt.Sub(began)
	return x.legsLeft, err
}

// recount counts the remaining legs now, whatever the age of the last count.
func (x *monitor) recount() (int, error) {
	x.mu.Lock()
	x.countedAt = time.Time{}
	x.mu.Unlock()
	return x.left()
}

// refreshState reads the state, at most once a second and at most as often as legs are counted.
func (x *monitor) refreshState() (grid.Progress, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if since := x.env.Now().Sub(x.stateAt); x.state.Segments > 0 &&
		(since < time.Second || since < countInterval*x.countTook) {
		return x.state, nil
	}
	s, err := x.grid.Progress()
	if err == nil {
		x.running, _ = legsUnderWay(x.env, x.grid, x.cache()) // unreadable leases are not shown; workers report them
	}
	x.state, x.stateAt = s, x.env.Now()
	return s, err
}

// collectInterval is the minimum time between two collections of the table, which can be read while it grows.
const collectInterval = 10 * time.Second

// collectIfDue collects the table if more sequences have ended and the interval has passed.
func (x *monitor) collectIfDue() error {
	s, err := x.refreshState()
	if err != nil || s.Ended == x.ended || x.env.Now().Sub(x.collectedAt) < collectInterval {
		return err
	}
	_, err = x.collectTable()
	return err
}

func (x *monitor) table() string { return filepath.Join(x.folder, runs.TableFolder) }

func (x *monitor) collectTable() (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n, err := x.grid.WriteTable(x.env.Files, x.table())
	if err != nil {
		return 0, err
	}
	x.ended, x.collectedAt = n, x.env.Now()
	return n, nil
}
