package control

import (
	"net/http"

	"graft/internal/listen"
	"graft/internal/telemetry"
	"graft/results"
	"graft/trainer"
)

// Status is the response to GET /status. Keys keep their meaning; later versions may add keys. Times are in seconds on
// the job's clock, which measures the budget.
type Status struct {
	Graft  string `json:"graft"`  // version of graft
	Folder string `json:"folder"` // path of the run folder
	// state of the job: starts, trains, decides, operates, evaluates or ended
	State         trainer.Phase `json:"state"`
	Network       NetworkStatus `json:"network"`
	Epoch         int           `json:"epoch"` // current epoch, from 0
	Step          int           `json:"step"`  // number of steps done in the epoch
	StepsPerEpoch int           `json:"steps_per_epoch"`
	Steps         int64         `json:"steps"`         // total number of steps done
	LearningRate  *float64      `json:"learning_rate"` // learning rate of the last step; null before the first step
	// mean training loss in the epoch so far; null before the first step
	TrainLoss *float64 `json:"train_loss_nats"`
	// training accuracy in the epoch so far; null before the first step
	TrainAccuracy *float64 `json:"train_accuracy"`
	// validation loss at the last evaluation; null before the first evaluation
	ValidationLoss *float64 `json:"validation_loss_nats"`
	// validation accuracy at the last evaluation; null before the first evaluation
	ValidationAccuracy *float64 `json:"validation_accuracy"`
	Time               float64  `json:"time_seconds"` // used part of the budget
	Budget             float64  `json:"budget_seconds"`
	Left               float64  `json:"time_left_seconds"`
	Devices            int      `json:"devices"`
	Batch              int      `json:"batch"` // number of images per step
	// images per second in the epoch so far; null if gradient noise is not measured
	Throughput *float64 `json:"throughput_images_per_second"`
	// statistical efficiency: progress per image relative to the smallest batch; null if gradient noise is not measured
	Efficiency *float64 `json:"efficiency"`
	// throughput multiplied by efficiency; null if gradient noise is not measured
	Goodput *float64 `json:"goodput_images_per_second"`
	// total number of training images; zero if the job began with a version of graft that did not count them
	Images int64   `json:"images"`
	FLOP   float64 `json:"flop"` // total number of floating-point operations; zero if they were not counted
	// device time in device-seconds: time multiplied by the number of devices; zero if it was not counted
	DeviceTime float64 `json:"device_seconds"`
	// energy in joules, estimated from the power in the clock's device profile; null if unknown
	Joules *float64 `json:"joules"`
	// next event of the timeline; null if there is none
	Next    *EventStatus   `json:"next_event"`
	Pending []ChangeStatus `json:"pending"` // requested changes that the job has not made yet
	// requested changes that the job has made so far, including changes before it was resumed
	Taken     []ChangeStatus     `json:"taken"`
	Decisions []AdaptationStatus `json:"decisions"`
	// GPUs of the job, each with its most recent measurements; empty if the job uses no GPUs or its GPUs are unknown
	GPUs []telemetry.State `json:"gpus"`
}

// NetworkStatus describes the current network.
type NetworkStatus struct {
	Name       string `json:"name"`
	Parameters int    `json:"parameters"`
	Layers     int    `json:"layers"` // number of layers with parameters
}

// EventStatus is an event of the timeline, which changes the job's devices.
type EventStatus struct {
	At      float64        `json:"time_seconds"`
	Change  trainer.Change `json:"change"`
	Devices int            `json:"devices,omitempty"` // number of devices after the event; absent if it stays
}

// AdaptationStatus is a decision, or the shrinking of the network after a loss of devices, with its effect on the
// accuracy.
type AdaptationStatus struct {
	Event      results.JobEvent `json:"event"` // kind of the event: decision or shrink
	At         float64          `json:"time_seconds"`
	Epoch      int              `json:"epoch"`
	Action     string           `json:"action,omitempty"` // action of a decision
	Took       float64          `json:"took_seconds"`
	Before     int              `json:"parameters_before"`
	Parameters int              `json:"parameters"` // number of parameters after the event
	// last validation accuracy before the event; null if there was no evaluation
	AccuracyBefore *float64 `json:"accuracy_before"`
	AccuracyAfter  *float64 `json:"accuracy_after"` // validation accuracy at the next evaluation; null before it
}

// status returns the progress of the job.
func (h *handler) status(w http.ResponseWriter, _ *http.Request) *listen.Refusal {
	writeAnswer(w, http.StatusOK, h.now())
	return nil
}

// known returns a pointer to a value, or nil.
func known(v float64, is bool) *float64 {
	if !is {
		return nil
	}
	return &v
}

// now is the status of the job.
func (h *handler) now() Status {
	s := newStatus(h.monitor.Read(), h.live.Pending(), h.version, h.folder)
	if h.gpus != nil {
		s.GPUs = append(s.GPUs, h.gpus()...)
	}
	return s
}

func newStatus(m *Snapshot, pending []*trainer.Request, version, folder string) Status {
	began := m.Steps > 0
	s := Status{Graft: version, Folder: folder, State: m.Phase,
		Network: NetworkStatus{m.Network, m.Parameters, m.Layers}, Epoch: m.Epoch, Step: m.Step,
		StepsPerEpoch: m.PerEpoch, Steps: m.Steps, LearningRate: known(m.Rate, began),
		TrainLoss: known(m.Loss, m.Loss > 0), TrainAccuracy: known(m.Accuracy, m.Loss > 0),
		ValidationLoss:     known(m.Validation.Loss, m.Evaluated),
		ValidationAccuracy: known(m.Validation.Accuracy, m.Evaluated), Time: m.Time.Seconds(),
		Budget: m.Budget.Seconds(), Left: m.Left.Seconds(), Devices: m.Devices,
		Batch: m.Batch, Throughput: known(m.Throughput, m.Throughput > 0),
		Efficiency: known(m.Efficiency, m.Efficiency > 0), Goodput: known(m.Goodput, m.Goodput > 0),
		Images: m.Images, FLOP: m.FLOP, DeviceTime: m.DeviceTime.Seconds(), Joules: known(m.Joules, m.Joules > 0),
		Pending: []ChangeStatus{}, Taken: []ChangeStatus{}, Decisions: []AdaptationStatus{}, GPUs: []telemetry.State{}}
	if m.Next.Change != trainer.Same {
		s.Next = &EventStatus{m.Next.At.Seconds(), m.Next.Change, m.Next.Devices}
	}
	for _, r := range pending {
		s.Pending = append(s.Pending, newChangeReport(r))
	}
	for k, e := range m.Live {
		at := e.At.Seconds()
		s.Taken = append(s.Taken, ChangeStatus{ID: e.Number(k), Change: string(e.Change), Devices: e.Devices, At: &at})
	}
	for _, e := range m.Adaptations {
		s.Decisions = append(s.Decisions, AdaptationStatus{Event: e.Event, At: e.Time.Seconds(), Epoch: e.Epoch,
			Action: e.Action, Took: e.Took.Seconds(), Before: e.Before, Parameters: e.Parameters,
			AccuracyBefore: known(e.Accuracy, e.Epoch > 0), AccuracyAfter: known(e.After, e.Evaluated)})
	}
	return s
}
