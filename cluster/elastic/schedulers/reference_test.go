package schedulers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
)

// reference is the folder of the original simulator's recorded results, beside the repository.
const reference = "../../../../shared/reference/dl2/"

// referenceFile returns the content of a recorded file. It skips the test if the file is missing.
func referenceFile(tb testing.TB, name string) []byte {
	data, err := os.ReadFile(filepath.FromSlash(reference + name))
	if os.IsNotExist(err) {
		tb.Skipf("left out: %s is not there; put the recorded results beside the tree", name)
	}
	require.NoError(tb, err)
	return data
}

func referenceJSON(tb testing.TB, name string, into any) {
	require.NoError(tb, json.Unmarshal(referenceFile(tb, name), into))
}

// referenceTypes returns the job types of the original.
func referenceTypes(tb testing.TB) (types []elastic.JobType) {
	var file struct {
		Models     []string            `json:"models"`
		Compute    []float64           `json:"local_comp_times"`
		Sizes      []float64           `json:"model_sizes"`
		EpochSizes []float64           `json:"epoch_sizes"`
		Between    []float64           `json:"inter_bws"`
		Within     []float64           `json:"intra_bws"`
		Workers    []elastic.Resources `json:"resr_workers"`
		Servers    []elastic.Resources `json:"resr_ps"`
		Lengths    []float64           `json:"num_epochs_fraction"`
	}
	referenceJSON(tb, "types.json", &file)
	for k, name := range file.Models {
		types = append(types, elastic.JobType{
			Name: name, Worker: file.Workers[k], Server: file.Servers[k], EpochSize: file.EpochSizes[k],
			Length: file.Lengths[k], Compute: file.Compute[k], ModelSize: file.Sizes[k], BetweenBW: file.Between[k],
			WithinBW: file.Within[k],
		})
	}
	return types
}

func referenceTable(tb testing.TB, name string) elastic.Table {
	table, err := elastic.ReadTable(strings.NewReader(string(referenceFile(tb, name))))
	require.NoError(tb, err)
	return table
}

// published holds the original's job types and speeds.
type published struct {
	types        []elastic.JobType
	table, clean elastic.Table
}

func readPublished(tb testing.TB) *published {
	return &published{referenceTypes(tb), referenceTable(tb, "speed_table.json"),
		referenceTable(tb, "speed_table_clean.json")}
}

// study returns the recorded workload of a configuration with the options of the original.
func (p *published) study(tb testing.TB, config string, seed int) elastic.Study {
	name := fmt.Sprintf("traces/%s/seed%d.json", config, seed)
	trace, err := elastic.ReadTrace(strings.NewReader(string(referenceFile(tb, name))), len(p.types))
	require.NoError(tb, err, name)
	s := elastic.Study{Types: p.types, Jobs: trace.Jobs, Speed: p.table, Options: trace.Settings.Options}
	s.Options.Quirks = elastic.Compatible().Quirks
	switch {
	case trace.Settings.Analytic:
		s.Speed = elastic.Analytic{WholeShares: true}
	case strings.HasSuffix(config, "_cleanspeed"):
		s.Speed = p.clean
	}
	return s
}
