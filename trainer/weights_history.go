package trainer

import (
	"fmt"
	"time"

	"graft/internal/files"
	"graft/torch/weights"
)

// WeightsHistory holds another program's records about the weights that it trained.
type WeightsHistory struct {
	Weights  string        // path of the weights
	Epochs   int           // number of training epochs
	Ended    time.Duration // used part of the budget at the end of the last epoch
	File     string        // path of the record with this time
	Line     int           // line of this time in the record
	Accuracy *float64      // test accuracy after the last epoch, from 0 to 1; nil if it was not recorded
}

// WeightsHistoryReader reads the records that another program wrote about its weights. The argument weights is the path
// of a weights file, or of a folder with weights and records. The argument runtimes is the path of the file with the
// end times of epochs; if it is empty, the reader searches the folder.
type WeightsHistoryReader func(fsys files.FS, weights, runtimes string) (*WeightsHistory, error)

var readWeightsHistory WeightsHistoryReader

// RegisterWeightsHistory sets the reader of weights histories. It is called during package initialization.
func RegisterWeightsHistory(r WeightsHistoryReader) { readWeightsHistory = r }

// ReadWeightsHistory reads the records about weights with the registered [WeightsHistoryReader], whose arguments it
// takes.
func ReadWeightsHistory(fsys files.FS, weights, runtimes string) (*WeightsHistory, error) {
	if readWeightsHistory == nil {
		return nil, fmt.Errorf("read the weights history of %s: this program was built without a reader "+
			"for it", weights)
	}
	return readWeightsHistory(fsys, weights, runtimes)
}

// WeightsInFolder reports whether a path to weights names a folder. A path is a file if it has the extension of a
// weights file.
func WeightsInFolder(path string) bool {
	_, err := weights.FormatOf(path)
	return path != "" && err != nil
}
