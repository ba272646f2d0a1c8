package trainer

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"graft/internal/files"
	"graft/results"
	"graft/trainer/goodput"
)

// Names of tables, logs and checkpoints in a run folder.
const (
	epochTable = "epochs"
	eventLog   = "events"
	checkpoint = "job"
)

// keptName is the format of the names of kept checkpoints, sorted by their times in nanoseconds.
const keptName = "%020d"

// epochColumns are the columns of Row. The last two exist only in jobs that measure the noise of gradients.
var epochColumns = []results.Column{
	{Name: "epoch", Kind: results.Int}, {Name: "time", Unit: "s"}, {Name: "steps", Kind: results.Int},
	{Name: "train_loss", Unit: "nats"}, {Name: "train_accuracy"}, {Name: "validation_loss", Unit: "nats"},
	{Name: "validation_accuracy"}, {Name: "learning_rate"}, {Name: "parameters", Kind: results.Int}, {Name: "devices",
		Kind: results.Int}, {Name: "images", Kind: results.Int}, {Name: "flop"}, {Name: "device_time", Unit: "s"},
	{Name: "batch", Kind: results.Int}, {Name: "throughput", Unit: "images/s"}, {Name: "efficiency"},
	{Name: "goodput", Unit: "images/s"},
	{Name: "gradient_square"}, {Name: "gradient_variance"},
}

// columnCounts are the possible numbers of columns in tables of epochs: with and without the noise of gradients, and in
// tables of earlier versions of graft: up to DeviceTime, and before Images. A run that began with fewer columns keeps
// them.
var columnCounts = []int{len(epochColumns), 17, 13, firstColumns}

// firstColumns is the minimum number of columns of a table.
const firstColumns = 10

// Folder records a job in a run folder.
type Folder struct {
	Run     *results.Run
	epochs  *results.Stream
	events  *results.Lines
	columns int // columns of the table of epochs
}

// OpenFolder opens the tables of a run folder; the caller closes the folder. The argument noise states whether the job
// measures gradient noise.
func OpenFolder(run *results.Run, noise bool) (*Folder, error) {
	f, err := &Folder{Run: run}, error(results.ErrColumns)
	for k, columns := range columnCounts {
		if errors.Is(err, results.ErrColumns) && (k > 0 || noise) {
			f.columns = columns
			f.epochs, err = run.Stream(epochTable, epochColumns[:columns])
		}
	}
	if err != nil {
		return nil, err
	}
	f.events, err = run.Lines(eventLog)
	return f, err
}

// Epoch adds a row to the table of epochs.
func (f *Folder) Epoch(r Row) error {
	values := []any{r.Epoch, r.Time.Seconds(), r.Steps, r.Loss, r.Accuracy, r.Validation.Loss, r.Validation.Accuracy,
		r.Rate, r.Parameters, r.Devices, r.Images, r.FLOP, r.DeviceTime.Seconds(), r.Batch, r.Throughput, r.Efficiency,
		r.Goodput, r.Gradient.Square, r.Gradient.Variance}
	return f.epochs.Append(values[:f.columns]...)
}

// Note adds a line to the log of events.
func (f *Folder) Note(n Note) error { return f.events.Append(n) }

// Save writes all rows and lines, then a checkpoint.
func (f *Folder) Save(sections []Section) error {
	return f.Run.SaveCheckpoint(checkpoint, write(sections))
}

// Keep writes all rows and lines, then a checkpoint that later checkpoints do not replace. Its name is its time.
func (f *Folder) Keep(at time.Duration, sections []Section) error {
	return f.Run.KeepCheckpoint(fmt.Sprintf(keptName, at), write(sections))
}

// ForgetKept deletes the kept checkpoints after a time on the clock of the job in a run folder.
func ForgetKept(fsys files.FS, folder string, after time.Duration) error {
	paths, err := results.KeptCheckpoints(fsys, folder)
	if err != nil {
		return err
	}
	last := fmt.Sprintf(keptName, after)
	for _, path := range paths {
		if name := filepath.Base(path); strings.TrimSuffix(name, filepath.Ext(name)) <= last {
			continue
		}
		if err := fsys.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete a kept checkpoint: %w", err)
		}
	}
	return nil
}

func write(sections []Section) func(*results.CheckpointWriter) error {
	return func(w *results.CheckpointWriter) error {
		for _, s := range sections {
			if err := w.Bytes(s.Name, s.Data); err != nil {
				return err
			}
		}
		return nil
	}
}

// Last returns the newest complete checkpoint, and truncates the tables to the rows written before it. If there is no
// checkpoint, it returns nil and empties the tables.
func (f *Folder) Last() (*SavedJob, error) {
	c, err := f.Run.LoadCheckpoint()
	if errors.Is(err, results.ErrNoCheckpoint) {
		return nil, errors.Join(f.epochs.Truncate(0), f.events.Truncate(0))
	}
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := f.Run.Rewind(c); err != nil {
		return nil, err
	}
	sections, err := ReadSections(c)
	if err != nil {
		return nil, err
	}
	return ReadSavedJob(sections)
}

// ReachedBy returns the progress of a run at its newest checkpoint, or the zero value if there is no checkpoint.
func ReachedBy(run *results.Run) (Reached, error) {
	c, err := run.LoadCheckpoint()
	if errors.Is(err, results.ErrNoCheckpoint) {
		return Reached{}, nil
	}
	if err != nil {
		return Reached{}, err
	}
	defer c.Close()
	return ReachedAt(c)
}

// ReachedAt returns the progress of a job at a checkpoint.
func ReachedAt(c *results.Checkpoint) (Reached, error) {
	text, err := c.ReadSection(positionSection)
	if err != nil {
		return Reached{}, err
	}
	return readReached(text)
}

// ReadSections reads all sections of a checkpoint.
func ReadSections(c *results.Checkpoint) (sections map[string][]byte, err error) {
	sections = map[string][]byte{}
	for _, name := range c.Sections() {
		if sections[name], err = c.ReadSection(name); err != nil {
			return nil, err
		}
	}
	return sections, nil
}

// ReadHistory reads a job's epochs and events so far. It may be called while the job runs.
func ReadHistory(fsys files.FS, folder string) ([]Row, []Note, error) {
	notes, err := results.ReadJSONLines[Note](fsys, filepath.Join(folder, eventLog+".jsonl"))
	if err != nil {
		return nil, nil, err
	}
	table, err := results.ReadStream(fsys, filepath.Join(folder, epochTable+".csv"))
	if err != nil {
		return nil, nil, err
	}
	rows, err := rowsOf(table)
	return rows, notes, err
}

// ReadLastRows reads the rows of the last epochs from a run folder; the parameter epochs is the number of these epochs.
func ReadLastRows(fsys files.FS, folder string, epochs int) ([]Row, error) {
	table, err := results.ReadStreamTail(fsys, filepath.Join(folder, epochTable+".csv"), epochs)
	if err != nil {
		return nil, err
	}
	return rowsOf(table)
}

func rowsOf(table *results.Table) (_ []Row, err error) {
	columns := map[string][]float64{}
	for k, c := range epochColumns {
		if k >= firstColumns && !slices.ContainsFunc(table.Columns,
			func(has results.Column) bool { return has.Name == c.Name }) {
			columns[c.Name] = make([]float64, table.Rows) // missing in tables of an older graft
		} else if columns[c.Name], err = table.Floats(c.Name); err != nil {
			return nil, fmt.Errorf("read epochs: %w", err)
		}
	}
	rows := make([]Row, table.Rows)
	for k := range rows {
		value := func(name string) float64 { return columns[name][k] }
		seconds := func(name string) time.Duration {
			return time.Duration(math.Round(value(name) * float64(time.Second)))
		}
		rows[k] = Row{Epoch: int(value("epoch")), Time: seconds("time"), Steps: int64(value("steps")),
			Loss: value("train_loss"), Accuracy: value("train_accuracy"),
			Validation: Score{value("validation_loss"), value("validation_accuracy")},
			Rate:       value("learning_rate"), Parameters: int(value("parameters")), Devices: int(value("devices")),
			Images: int64(value("images")), FLOP: value("flop"), DeviceTime: seconds("device_time"),
			BatchRates: BatchRates{int(value("batch")), value("throughput"), value("efficiency"), value("goodput"),
				goodput.Moments{Square: value("gradient_square"), Variance: value("gradient_variance")}}}
	}
	return rows, nil
}

// Digest returns a digest of the tables. Runs with equal digests have byte-identical tables.
func (f *Folder) Digest() string { return f.epochs.Digest() + f.events.Digest() }
