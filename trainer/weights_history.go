package trainer

import (
	"fmt"
	"time"

	"graft/internal/files"
	"graft/torch/weights"
)

// WeightsHistory holds another program's records of weights that it trained.
type WeightsHistory struct {
	Weights  string        // file
	Epochs   int           // training epochs
	Ended    time.Duration // end of the last epoch, in the budget
	File     string        // record with the end
	Line     int           // line in the record
	Accuracy *float64      // test accuracy after the last epoch, from 0 to 1; nil if it was not recorded
}

// WeightsHistoryReader reads the records about weights: a file, or a folder of weights and records. Runtimes is the
// path of the end times of epochs; empty searches the folder for them.
type WeightsHistoryReader func(fsys files.FS, weights, runtimes string) (*WeightsHistory, error)

var readWeightsHistory WeightsHistoryReader

// RegisterWeightsHistory sets the reader of records. It is called during package initialization.
func RegisterWeightsHistory(r WeightsHistoryReader) { readWeightsHistory = r }

// ReadWeightsHistory reads the records about weights.
func ReadWeightsHistory(fsys files.FS, weights, runtimes string) (*WeightsHistory, error) {
	if readWeightsHistory == nil {
		return nil, fmt.Errorf("read the records of %s: this program was built without a reader of the original's "+
			"records", weights)
	}
	return readWeightsHistory(fsys, weights, runtimes)
}

// WeightsInFolder reports whether a path of weights names a folder: a file is recognised by its extension.
func WeightsInFolder(path string) bool {
	_, err := weights.FormatOf(path)
	return path != "" && err != nil
}
