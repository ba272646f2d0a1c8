package control

import (
	"net/http"

	"graft/internal/listen"
	"graft/internal/telemetry"
	"graft/results"
	"graft/trainer"
)

// Status is the response to GET /status. Keys keep their meaning; later versions may add keys. Seconds are of the
// budget, by the job's clock.
type Status struct {
	Graft         string        `json:"graft"`  // version
	Folder        string        `json:"folder"` // run folder
	State         trainer.Phase `json:"state"`  // starts, trains, decides, operates, evaluates or ended
	Network       NetworkStatus `json:"network"`
	Epoch         int           `json:"epoch"` // current epoch, from 0
	Step          int           `json:"step"`  // steps done in the epoch
	StepsPerEpoch int           `json:"steps_per_epoch"`
	Steps         int64         `json:"steps"`         // steps done in total
	LearningRate  *float64      `json:"learning_rate"` // learning rate of the last step; null before the first
	// mean over the epoch so far; null before the first step
	TrainLoss          *float64 `json:"train_loss_nats"`
	TrainAccuracy      *float64 `json:"train_accuracy"`       // as train_loss_nats
	ValidationLoss     *float64 `json:"validation_loss_nats"` // loss at the last evaluation; null before that
	ValidationAccuracy *float64 `json:"validation_accuracy"`  // accuracy at the last evaluation; null before that
	Time               float64  `json:"time_seconds"`         // time of the budget so far
	Budget             float64  `json:"budget_seconds"`
	Left               float64  `json:"time_left_seconds"`
	Devices            int      `json:"devices"`
	Batch              int      `json:"batch"` // images per step
	// throughput of steps in the epoch; null if the noise of gradients is not measured
	Throughput *float64 `json:"throughput_images_per_second"`
	// progress per image, relative to an image in the smallest batch; null as throughput
	Efficiency *float64 `json:"efficiency"`
	// throughput times efficiency; null as throughput
	Goodput *float64 `json:"goodput_images_per_second"`
	// training images, total; zero if the job started before graft counted them
	Images int64   `json:"images"`
	FLOP   float64 `json:"flop"` // floating-point operations, as images
	// time multiplied by the devices held; zero as images
	DeviceTime float64 `json:"device_seconds"`
	// energy at the power of the clock's profile; null if unknown
	Joules *float64 `json:"joules"`
	// next event of the timeline; null if there is none
	Next    *EventStatus   `json:"next_event"`
	Pending []ChangeStatus `json:"pending"` // requested changes that are not done yet
	// requested changes that are done, in the lifetime of the job
	Taken     []ChangeStatus     `json:"taken"`
	Decisions []AdaptationStatus `json:"decisions"`
	// GPUs of the job, with their last readings; empty if it uses none or they are unknown
	GPUs []telemetry.State `json:"gpus"`
}

// NetworkStatus is the current network.
type NetworkStatus struct {
	Name       string `json:"name"`
	Parameters int    `json:"parameters"`
	Layers     int    `json:"layers"` // layers with parameters
}

// EventStatus is a planned change of devices.
type EventStatus struct {
	At      float64        `json:"time_seconds"`
	Change  trainer.Change `json:"change"`
	Devices int            `json:"devices,omitempty"` // absent if the number does not change
}

// AdaptationStatus is a decision or a shrink, with its effect.
type AdaptationStatus struct {
	Event      results.JobEvent `json:"event"` // decision or shrink
	At         float64          `json:"time_seconds"`
	Epoch      int              `json:"epoch"`
	Action     string           `json:"action,omitempty"` // action of a decision
	Took       float64          `json:"took_seconds"`
	Before     int              `json:"parameters_before"`
	Parameters int              `json:"parameters"` // parameters after it
	// accuracy on the validation images; null before they were evaluated
	AccuracyBefore *float64 `json:"accuracy_before"`
	AccuracyAfter  *float64 `json:"accuracy_after"` // accuracy at the next evaluation; null before that
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
		s.Taken = append(s.Taken, ChangeStatus{ID: k + 1, Change: string(e.Change), Devices: e.Devices, At: &at})
	}
	for _, e := range m.Adaptations {
		s.Decisions = append(s.Decisions, AdaptationStatus{Event: e.Event, At: e.Time.Seconds(), Epoch: e.Epoch,
			Action: e.Action, Took: e.Took.Seconds(), Before: e.Before, Parameters: e.Parameters,
			AccuracyBefore: known(e.Accuracy, e.Epoch > 0), AccuracyAfter: known(e.After, e.Evaluated)})
	}
	return s
}
