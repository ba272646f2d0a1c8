package trainer

import (
	"fmt"
	"time"

	"graft/internal/files"
	"graft/torch/weights"
)

// WeightsHistory holds what another program recorded of weights that it trained.
type WeightsHistory struct {
	Weights  string        // file
	Epochs   int           // of training
	Ended    time.Duration // end of the last epoch, in the budget
	File     string        // record that has the end
	Line     int           // in it
	Accuracy *float64      // on the test after the last epoch, from 0 to 1; nil if it was not recorded
}

// WeightsHistoryReader reads the records about weights: a file, or a folder of weights and records. The path of the
// ends of epochs is empty to look for them in the folder.
type WeightsHistoryReader func(fsys files.FS, weights, runtimes string) (*WeightsHistory, error)

var readWeightsHistory WeightsHistoryReader

// RegisterWeightsHistory sets the reader of records. It is called while packages are initialized.
func RegisterWeightsHistory(r WeightsHistoryReader) { readWeightsHistory = r }

// ReadWeightsHistory reads the records about weights.
func ReadWeightsHistory(fsys files.FS, weights, runtimes string) (*WeightsHistory, error) {
	if readWeightsHistory == nil {
		return nil, fmt.Errorf("this program cannot read the records about %s", weights)
	}
	return readWeightsHistory(fsys, weights, runtimes)
}

// WeightsInFolder reports whether weights are named by their folder: a file is recognised by its ending.
func WeightsInFolder(path string) bool {
	_, err := weights.FormatOf(path)
	return path != "" && err != nil
}
