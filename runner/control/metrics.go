package control

import (
	"net/http"
	"runtime"

	"graft/internal/listen"
	"graft/internal/prometheus"
	"graft/internal/telemetry"
	"graft/results"
	"graft/trainer"
)

// metrics returns the content of the status, for Prometheus.
func (h *handler) metrics(w http.ResponseWriter, _ *http.Request) *listen.Refusal {
	w.Header().Set("Content-Type", prometheus.ContentType)
	_, _ = w.Write([]byte(formatMetrics(h.now(), h.host))) // the client may have disconnected
	return nil
}

// phases lists all phases of a job.
var phases = []trainer.Phase{trainer.Starts, trainer.Trains, trainer.Decides, trainer.Operates, trainer.Evaluates,
	trainer.Ended}

// formatMetrics writes readings of GPUs under the names of NVIDIA's DCGM exporter.
func formatMetrics(s Status, host string) string {
	m := &prometheus.Text{}
	m.Family("graft_build_info", "gauge", "Version of graft that runs the job; always 1.")
	m.Sample(1, "version", s.Graft, "go", runtime.Version())
	m.Family("graft_job_info", "gauge", "Run folder and network of the job; always 1.")
	m.Sample(1, "folder", s.Folder, "network", s.Network.Name)
	m.Family("graft_job_state", "gauge", "1 for the current state of the job, 0 for the other states.")
	for _, p := range phases {
		m.Sample(map[bool]float64{true: 1}[p == s.State], "state", string(p))
	}
	timeMetrics(m, s)
	trainingMetrics(m, s)
	resourceMetrics(m, s)
	changeMetrics(m, s)
	devices, readings := make([]telemetry.Device, len(s.GPUs)), make([]telemetry.Reading, len(s.GPUs))
	for k, g := range s.GPUs {
		devices[k], readings[k] = g.Device, g.Reading
	}
	telemetry.WriteDCGM(m, host, devices, readings)
	return m.String()
}

// timeMetrics writes the job's position in its budget.
func timeMetrics(m *prometheus.Text, s Status) {
	m.Gauge("graft_job_time_seconds", "Elapsed time of the budget, on the job's clock.", &s.Time)
	m.Gauge("graft_job_budget_seconds", "Time budget, on the job's clock.", &s.Budget)
	m.Gauge("graft_job_time_left_seconds", "Remaining time of the budget, on the job's clock.", &s.Left)
	m.Gauge("graft_job_epoch", "Current epoch, from 0.", count(s.Epoch))
	m.Gauge("graft_job_epoch_step", "Completed steps of the current epoch.", count(s.Step))
	m.Gauge("graft_job_epoch_steps", "Steps per epoch.", count(s.StepsPerEpoch))
	m.Counter("graft_job_steps_total", "Completed steps of the job.", float64(s.Steps))
}

// trainingMetrics writes the job's losses, rates and network.
func trainingMetrics(m *prometheus.Text, s Status) {
	m.Gauge("graft_job_train_loss_nats", "Mean training loss of the epoch so far.", s.TrainLoss)
	m.Gauge("graft_job_train_accuracy_ratio", "Training accuracy of the epoch so far.", s.TrainAccuracy)
	m.Gauge("graft_job_validation_loss_nats", "Loss on the validation images at the last evaluation.", s.ValidationLoss)
	m.Gauge("graft_job_validation_accuracy_ratio", "Accuracy on the validation images at the last evaluation.",
		s.ValidationAccuracy)
	m.Gauge("graft_job_learning_rate", "Learning rate of the last step.", s.LearningRate)
	m.Gauge("graft_job_devices", "Devices of the job.", count(s.Devices))
	m.Gauge("graft_job_batch_images", "Images per step.", count(s.Batch))
	m.Gauge("graft_job_throughput_images_per_second", "Images per second of training steps in the epoch so far.",
		s.Throughput)
	m.Gauge("graft_job_efficiency_ratio", "Progress per image relative to the smallest batch.",
		s.Efficiency)
	m.Gauge("graft_job_goodput_images_per_second", "Throughput times efficiency.", s.Goodput)
	m.Gauge("graft_job_network_parameters", "Parameters of the current network.", count(s.Network.Parameters))
	m.Gauge("graft_job_network_layers", "Layers with parameters of the current network.", count(s.Network.Layers))
}

// resourceMetrics writes what the job has used.
func resourceMetrics(m *prometheus.Text, s Status) {
	m.Counter("graft_job_images_total", "Training images of the job.", float64(s.Images))
	m.Counter("graft_job_flop_total",
		"Floating-point operations of the job; a multiply-add counts as two.", s.FLOP)
	m.Counter("graft_job_device_seconds_total",
		"Device time: time of the budget multiplied by the devices held.", s.DeviceTime)
	if s.Joules != nil {
		m.Counter("graft_job_energy_joules_total",
			"Energy: device time multiplied by the power in the clock's profile.", *s.Joules)
	}
}

// changeMetrics writes the job's changes of devices and its decisions.
func changeMetrics(m *prometheus.Text, s Status) {
	if s.Next != nil {
		m.Family("graft_job_next_event_time_seconds", "gauge",
			"Time of the next change of devices in the timeline, in time of the budget.")
		m.Sample(s.Next.At, "change", string(s.Next.Change))
	}
	m.Gauge("graft_job_pending_changes", "Requested changes that are pending.", count(len(s.Pending)))
	m.Counter("graft_job_taken_changes_total", "Requested changes that were applied.",
		float64(len(s.Taken)))
	decisions := 0
	for _, e := range s.Decisions {
		if e.Event == results.EventDecision {
			decisions++
		}
	}
	m.Counter("graft_job_decisions_total", "Adaptation decisions of the job.", float64(decisions))
}

func count(n int) *float64 {
	v := float64(n)
	return &v
}
