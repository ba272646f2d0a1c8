package control

import (
	"flag"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"graft/internal/prometheus"
	"graft/internal/telemetry"
	"graft/trainer"
)

var update = flag.Bool("update", false, "write testdata/metrics.txt again")

// metricPattern matches a metric in the text format of Prometheus, version 0.0.4: its help is a sentence, its type
// follows, and then its samples.
var (
	metricPattern = regexp.MustCompile(`^([a-z_]+) .+\.\n# TYPE ([a-z_]+) (counter|gauge)\n((?:[^#\n]+\n)+)$`)
	samplePattern = regexp.MustCompile(
		`^([a-z_]+)(?:\{[a-z]+="(?:[^"\\]|\\[\\n"])*"(?:,[a-z]+="(?:[^"\\]|\\[\\n"])*")*\})? -?[0-9.e+]+$`)
	unitNames = regexp.MustCompile(`_(seconds|nats|ratio|total|info|epoch|step|steps|rate|devices|parameters|` +
		`layers|changes|state|images|per_second)$`)
)

// metricsIn returns the names of metrics in order. It checks that each name occurs once, has a unit and its own
// samples, and ends in _total if and only if it is a counter.
func metricsIn(t *testing.T, text string) (names []string) {
	t.Helper()
	for metric := range strings.SplitSeq(strings.TrimPrefix(text, "# HELP "), "# HELP ") {
		m := metricPattern.FindStringSubmatch(metric)
		require.NotNil(t, m, metric)
		require.Equal(t, m[1], m[2])
		require.Equal(t, m[3] == "counter", strings.HasSuffix(m[1], "_total"), m[1])
		require.Regexp(t, unitNames, m[1])
		require.NotContains(t, names, m[1])
		for sample := range strings.SplitSeq(strings.TrimSpace(m[4]), "\n") {
			s := samplePattern.FindStringSubmatch(sample)
			require.NotNil(t, s, sample)
			require.Equal(t, m[1], s[1])
		}
		names = append(names, m[1])
	}
	return names
}

// The metrics of a job equal the golden file, in the format that Prometheus reads.
func TestMetrics(t *testing.T) {
	h, live := idleHandler(t)
	h.folder = "a \"run\" in \\ and\nbeyond"
	_, err := live.Post(trainer.Up, 3)
	require.NoError(t, err)
	note := trainer.Note{Event: "decision", Time: time.Second}
	h.monitor = NewMonitor("ConvSmall", trainer.Progress{Phase: trainer.Trains,
		Devices: 2, Parameters: 14826, Layers: 7, PerEpoch: 5, Epoch: 2, Steps: 12, Loss: 0.5,
		BatchRates: trainer.BatchRates{Batch: 128, Throughput: 2000, Efficiency: 0.75, Goodput: 1500},
		Resources:  trainer.Resources{Images: 768, FLOP: 3.2e12, DeviceTime: 90 * time.Second, Joules: 27000},
		Evaluated:  true, Validation: trainer.Score{Accuracy: 0.75}, Budget: time.Hour, Time: time.Minute,
		Left: 59 * time.Minute, Next: trainer.Event{At: 50 * time.Minute, Change: trainer.Up},
		Live: []trainer.LiveChange{{At: time.Second, Change: trainer.Up, Devices: 2}}}, nil, []trainer.Note{note})
	w := httptest.NewRecorder()
	require.Nil(t, h.metrics(w, nil))
	require.Equal(t, prometheus.ContentType, w.Header().Get("Content-Type"))
	require.Greater(t, len(metricsIn(t, w.Body.String())), 20)
	const path = "testdata/metrics.txt"
	got := strings.Replace(w.Body.String(), runtime.Version(), "GO", 1)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got, "look at it, then write it again with -update")
}

// An unknown value is null in the status, and no metric.
func TestListenSaysWhatIsNotKnown(t *testing.T) {
	h, _ := idleHandler(t)
	s := h.now()
	require.Nil(t, s.TrainLoss)
	require.Nil(t, s.ValidationAccuracy)
	text := formatMetrics(s, "host")
	names := metricsIn(t, text)
	require.NotContains(t, names, "graft_job_train_loss_nats")
	require.NotContains(t, names, "graft_job_validation_accuracy_ratio")
	require.NotContains(t, names, "graft_job_efficiency_ratio")
	require.Contains(t, text, "\ngraft_job_time_left_seconds 60\n")
	require.Contains(t, text, "\ngraft_job_state{state=\"trains\"} 1\n")
}

// The GPUs of a job are in its status, and in its metrics under the names of NVIDIA's DCGM exporter.
func TestListenShowsGPUs(t *testing.T) {
	h, _ := idleHandler(t)
	require.Equal(t, []telemetry.State{}, h.now().GPUs)
	h.host = "node1"
	h.gpus = func() []telemetry.State {
		return []telemetry.State{{Device: telemetry.Device{Index: 2, UUID: "GPU-2", Name: "H100"},
			Reading: telemetry.Reading{Device: 2, UtilizationPercent: telemetry.Known(87.0)}}}
	}
	require.Equal(t, h.gpus(), h.now().GPUs)
	w := httptest.NewRecorder()
	require.Nil(t, h.metrics(w, nil))
	require.Contains(t, w.Body.String(), "\n"+
		"DCGM_FI_DEV_GPU_UTIL{gpu=\"2\",UUID=\"GPU-2\",device=\"nvidia2\",modelName=\"H100\",Hostname=\"node1\"} 87\n")
	require.NotContains(t, w.Body.String(), "DCGM_FI_DEV_POWER_USAGE")
}
