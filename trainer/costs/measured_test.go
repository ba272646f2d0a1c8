package costs

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// published holds measured times of training iterations and of all-reduces on A100 servers (Bang et al., vTrain, MICRO
// 2024), and the rows that may be fitted.
const published = "../../../shared/reference/steptimes/vtrain"

// row is a measured training iteration.
type row struct {
	model   Transformer
	plan    Plan
	devices int
	seconds float64
}

// readPublished returns the records of a file without its header. The test skips if the folder is missing.
func readPublished(t *testing.T, name string) [][]string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(published, name))
	if os.IsNotExist(err) {
		t.Skipf("no published measurements in %s", published)
	}
	require.NoError(t, err)
	r := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(data), "\ufeff")))
	r.FieldsPerRecord = -1
	records, err := r.ReadAll()
	require.NoError(t, err)
	require.Greater(t, len(records), 1)
	return records[1:]
}

func numbers(t *testing.T, fields []string) []float64 {
	t.Helper()
	list := make([]float64, len(fields))
	for k, field := range fields {
		var err error
		list[k], err = strconv.ParseFloat(strings.TrimSpace(field), 64)
		require.NoError(t, err)
	}
	return list
}

// gptVocabulary is the number of tokens of GPT-2, which all rows use.
const gptVocabulary = 50257

// megatronPadding is the multiple to which Megatron-LM pads each part of the vocabulary.
const megatronPadding = 128

// measuredRow reads the columns of a row that both tables have.
func measuredRow(t *testing.T, fields []string) row {
	f := numbers(t, fields)
	n := make([]int, len(f))
	for k := range f {
		n[k] = int(f[k])
	}
	r := row{devices: n[0], seconds: f[10] / 1e3,
		model: Transformer{Hidden: n[3], Heads: n[4], Layers: n[5], Sequence: n[6], Vocabulary: gptVocabulary,
			Padding: megatronPadding},
		plan: Plan{Tensor: n[7], Data: n[8], Pipeline: n[9], MicroBatch: n[2], MicroBatches: n[1] / n[2] / n[8]}}
	require.Equal(t, n[0], r.plan.Tensor*r.plan.Data*r.plan.Pipeline)
	return r
}

// singleRows returns the rows of one server that may be fitted, and the rows for the test. Observations on the rows
// that may be fitted decide two settings that the table does not have. Without tensor parallelism, the output layer
// takes far longer than aligned products, so its vocabulary is not padded. If the layers ran their forward pass again,
// the best fit would need 2.35 TB/s, more than any A100's memory has, and it would predict left-out hidden sizes worse;
// so these rows keep their activations.
func singleRows(t *testing.T) (fit, test []row) {
	parts := map[string]string{}
	for _, record := range readPublished(t, "split.csv") {
		parts[record[0]+record[1]] = record[2]
	}
	for k, record := range readPublished(t, "ground_truth_single.csv") {
		r := measuredRow(t, record)
		if r.plan.Tensor == 1 {
			r.model.Padding = 1
		}
		if parts[fmt.Sprint("single", k)] == "fit" {
			fit = append(fit, r)
		} else {
			test = append(test, r)
		}
	}
	return fit, test
}

// multiRows returns the rows of many servers. The authors' configurations recompute activations; without it, the larger
// models exceed the memory of the devices.
func multiRows(t *testing.T) (rows []row) {
	for _, record := range readPublished(t, "ground_truth_multi.csv") {
		r := measuredRow(t, record[1:])
		r.plan.Recompute = true
		rows = append(rows, r)
	}
	return rows
}

// sum is a measured all-reduce.
type sum struct {
	ranks          int
	bytes, seconds float64
}

// sums returns the all-reduces of a device's table: in place, on 2 to 8 devices of a server.
func sums(t *testing.T, device string) (all []sum) {
	for ranks := 2; ranks <= 8; ranks++ {
		for _, record := range readPublished(t, fmt.Sprintf("allreduce/%s_%dgpu.csv", device, ranks)) {
			f := numbers(t, []string{record[0], record[5]})
			all = append(all, sum{ranks, f[0], f[1] / 1e9})
		}
	}
	return all
}
