package original

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"graft/internal/files"
	"graft/torch/weights"
	"graft/trainer"
)

// history accumulates the history of weights during reading.
type history struct{ trainer.WeightsHistory }

// ReadHistory reads the data that the original system recorded while it trained the weights at path, such as the end
// times of epochs. The argument runtimes is the path of the file with these times; if path is a folder, it can be
// empty. ReadHistory is a [trainer.WeightsHistoryReader].
func ReadHistory(fsys files.FS, path, runtimes string) (*trainer.WeightsHistory, error) {
	h := &history{trainer.WeightsHistory{Weights: path}}
	var tests []Metric
	if trainer.WeightsInFolder(path) {
		l, err := openFolder(fsys, path)
		if err != nil {
			return nil, err
		}
		if h.Weights, err = weightsIn(l); err != nil {
			return nil, err
		}
		runtimes = cmp.Or(runtimes, filepath.Join(l.Path, "runtimes"))
		tests = l.Metrics
	}
	rows, err := ReadRuntimes(fsys, runtimes)
	if err != nil {
		return nil, err
	}
	if err := inOrder(rows); err != nil {
		return nil, fmt.Errorf("%s: %w", runtimes, err)
	}
	h.Epochs = len(rows)
	h.end(rows, runtimes)
	return &h.WeightsHistory, h.test(tests)
}

func openFolder(fsys files.FS, path string) (*Folder, error) {
	if info, err := fsys.Stat(path); err != nil || !info.IsDir() {
		_, unknown := weights.FormatOf(path)
		return nil, fmt.Errorf("%w; an existing folder is also valid", unknown)
	}
	return ReadFolder(fsys, path)
}

// weightsIn finds the only weight file in a folder.
func weightsIn(l *Folder) (string, error) {
	var found []string
	for _, name := range l.Others {
		if _, err := weights.FormatOf(name); err != nil {
			continue
		}
		if strings.TrimSuffix(name, filepath.Ext(name)) == "weights" {
			found = []string{name}
			break
		}
		found = append(found, name)
	}
	if len(found) == 1 {
		return filepath.Join(l.Path, found[0]), nil
	}
	return "", fmt.Errorf("%s has %d weights files, but no weights.pth; set the path of the weights to one of these "+
		"files, and set the path of the epoch times", l.Path, len(found))
}

// inOrder checks the times of epochs.
func inOrder(rows []Row) error {
	if len(rows) == 0 {
		return errors.New("the file has no epochs")
	}
	for k, row := range rows {
		if !(row.Seconds >= 0) || row.Seconds > math.MaxInt64/1e9 || k > 0 && row.Seconds < rows[k-1].Seconds {
			return fmt.Errorf("the epoch in line %d ends after %v seconds; times must be at least 0 and must "+
				"not decrease", k+1,
				row.Seconds)
		}
	}
	return nil
}

// end moves the end of the last epoch to the last of the rows.
func (h *history) end(rows []Row, path string) {
	last := time.Duration(math.Round(rows[len(rows)-1].Seconds * 1e9))
	if last >= h.Ended {
		h.Ended, h.File, h.Line = last, path, len(rows)
	}
}

// test takes the accuracy after the last epoch, which the budget includes, if a table of the folder has it.
func (h *history) test(metrics []Metric) error {
	var found []Metric
	for _, m := range metrics {
		if m.Granularity == "epoch" && m.Metric == "test_acc" && len(m.Rows) == h.Epochs {
			found = append(found, m)
		}
	}
	if len(found) != 1 {
		return nil
	}
	path := filepath.Join(filepath.Dir(h.Weights), found[0].File)
	if err := inOrder(found[0].Rows); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	h.end(found[0].Rows, path)
	if v := found[0].Rows[h.Epochs-1].Value; v.Single {
		h.Accuracy = &v.Numbers[0]
	}
	return nil
}
