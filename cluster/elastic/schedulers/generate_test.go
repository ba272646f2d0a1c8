package schedulers_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"graft/cluster/elastic"
	"graft/internal/random/numpy"
)

// Generate reproduces the original's workloads from their seeds.
func TestRecordedWorkloads(t *testing.T) {
	types, patterns := referenceTypes(t), referencePatterns(t)
	for _, config := range append([]string{"small_uniform", "small_varlen", "template_poisson"}, recordedConfigs...) {
		for seed := 1; seed <= 10; seed++ {
			name := fmt.Sprintf("traces/%s/seed%d.json", config, seed)
			requireGenerated(t, name, types, patterns, numpy.New(uint32(seed)))
		}
	}
}

// One seed generates all validation workloads in sequence.
func TestRecordedValidationWorkloads(t *testing.T) {
	types, patterns, from := referenceTypes(t), referencePatterns(t), numpy.New(9973)
	for k := 1; k <= 10; k++ {
		requireGenerated(t, fmt.Sprintf("traces/default_val9973/seed%d.json", k), types, patterns, from)
	}
}

// referencePatterns returns the arrival patterns of the original by rate.
func referencePatterns(t *testing.T) map[string][]int {
	var constants struct {
		Patterns map[string][]int `json:"arrv_patterns"`
	}
	referenceJSON(t, "types.json", &constants)
	return constants.Patterns
}

func requireGenerated(t *testing.T, name string, types []elastic.JobType, patterns map[string][]int,
	from elastic.Draws) {
	trace, err := elastic.ReadTrace(strings.NewReader(string(referenceFile(t, name))), len(types))
	require.NoError(t, err, name)
	o := trace.Settings.Generate
	o.Pattern = patterns[fmt.Sprint(o.Rate)]
	jobs, err := elastic.Generate(types, o, from)
	require.NoError(t, err, name)
	require.Equal(t, trace.Jobs, jobs, name)
}

// A workload that is written as JSON reads back unchanged.
func TestTraceRoundTrip(t *testing.T) {
	jobs, err := elastic.Generate([]elastic.JobType{{Length: 0.5}, {Length: 1}},
		elastic.GenerateOptions{EpochError: 0.3}, elastic.NewDraws(4))
	require.NoError(t, err)
	text, err := json.Marshal(map[string]any{"jobs": jobs})
	require.NoError(t, err)
	trace, err := elastic.ReadTrace(strings.NewReader(string(text)), 2)
	require.NoError(t, err)
	require.Equal(t, jobs, trace.Jobs)
}
