package clock

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"graft/internal/stat"
	"graft/internal/validate"
	"graft/model"
	"graft/model/graph"
)

// Processes holds measured times of several processes that train together, each on a device of its own or on the same
// processors. Each step, every process computes its share of the batch, and then all processes add their gradients.
type Processes struct {
	Count int // number of processes, at least 2
	// time of a process's share of a step, relative to the same work in one process alone; more than 1 if the processes
	// share processors or memory
	Slowdown float64
	// time in seconds that processes wait for each other at an exchange in a step, in addition to the exchange
	WaitSeconds float64
	Exchanges   []Exchange // times to add tensors over all processes, by increasing size
	// number of steps of small networks to which slowdown and wait were fitted, and the median and the largest relative
	// error if each network is left out of the fit; zero means unknown
	Steps                   int
	MedianError, WorstError float64
}

// Exchange is the measured time in which processes add a tensor.
type Exchange struct {
	Bytes   int64   // size of the tensor
	Seconds float64 // time in seconds
}

// faults lists the invalid values. The argument is the index in the profile.
func (s Processes) faults(at int) (found validate.Faults) {
	bad := func(format string, args ...any) {
		found = append(found, &ItemFault{List: "processes", Index: at, Key: "count",
			Text: fmt.Sprintf(format, args...)})
	}
	if s.Count < 2 || s.Count > mostProcesses {
		bad("count is %d; must be from 2 to %d", s.Count, mostProcesses)
	}
	if !(s.Slowdown > 0 && s.Slowdown < mostSlowdown) {
		bad("slowdown is %v; must be more than 0 and less than %v", s.Slowdown, mostSlowdown)
	}
	if !(s.WaitSeconds >= 0 && s.WaitSeconds < mostSlowdown) {
		bad("wait_seconds is %v; must be at least 0 and less than %v", s.WaitSeconds, mostSlowdown)
	}
	if !(s.MedianError >= 0 && s.WorstError >= s.MedianError && s.WorstError < mostSlowdown && s.Steps >= 0) {
		bad("steps is %d with errors of %v in the median and %v at worst; must be at least 0, and the median at most "+
			"the worst", s.Steps, s.MedianError, s.WorstError)
	}
	if len(s.Exchanges) == 0 {
		bad("exchanges is empty; measure the processes again with 'graft profile --processes'")
	}
	for k, e := range s.Exchanges {
		if e.Bytes < 1 || k > 0 && e.Bytes <= s.Exchanges[k-1].Bytes {
			bad("exchange %d has %d bytes; sizes must be positive and increase", k+1, e.Bytes)
		}
		if !(e.Seconds > 0 && e.Seconds < mostSlowdown) {
			bad("exchange %d takes %v seconds; must be more than 0 and less than %v", k+1, e.Seconds, mostSlowdown)
		}
	}
	return found
}

// Limits of the values of processes.
const (
	mostProcesses = 1 << 16
	mostSlowdown  = 1e6
)

// Seconds returns the time to add a tensor of the given size over all processes: a line through the two nearest
// measured sizes. Tensors that are smaller than all measured ones take as long as the smallest.
func (s *Processes) Seconds(bytes int64) float64 {
	all := s.Exchanges
	at := sort.Search(len(all), func(k int) bool { return all[k].Bytes >= bytes })
	if at == 0 {
		return all[0].Seconds
	}
	if at = min(at, len(all)-1); at == 0 {
		return all[0].Seconds * float64(bytes) / float64(all[0].Bytes)
	}
	a, b := all[at-1], all[at]
	share := float64(bytes-a.Bytes) / float64(b.Bytes-a.Bytes)
	return max(a.Seconds, a.Seconds+share*(b.Seconds-a.Seconds))
}

// exchanged returns the time to exchange the tensors of a step of a network, without the waits, and their number.
func (s *Processes) exchanged(n *model.Network) (seconds float64, count int) {
	messages := Messages(n)
	for _, bytes := range messages {
		seconds += s.Seconds(bytes)
	}
	return seconds, len(messages)
}

// step returns the time of a step. One process alone takes the given seconds for its share of the batch.
func (s *Processes) step(alone float64, n *model.Network) float64 {
	exchanged, count := s.exchanged(n)
	return alone*s.Slowdown + exchanged + float64(count)*s.WaitSeconds
}

// TogetherStep holds measured times, in seconds, of a network's step.
type TogetherStep struct {
	Network *model.Network
	Alone   float64 // one process alone on its share of the batch
	Step    float64 // all processes on the batch
	// time of a step of the reference network around the measurement, relative to a quiet machine; 1 if not measured
	Slowdown float64
}

// Fit sets the slowdown and the wait so that the sum of squared relative errors of the steps is least, and the errors
// of steps that are left out of the fit. The exchanges must be set.
func (s *Processes) Fit(steps []TogetherStep) {
	var misses []float64
	for k, t := range steps {
		s.fit(slices.Delete(slices.Clone(steps), k, k+1))
		misses = append(misses, math.Abs(s.step(t.Alone, t.Network)/t.Step-1))
	}
	s.fit(steps)
	if s.Steps = len(misses); s.Steps > 0 {
		s.MedianError, s.WorstError = digits(stat.Median(misses)), digits(slices.Max(misses))
	}
}

func (s *Processes) fit(steps []TogetherStep) {
	var aa, am, mm, ab, mb float64 // sums of products of relative times: alone, number of messages, target
	for _, t := range steps {
		exchanged, count := s.exchanged(t.Network)
		a, m, b := t.Alone/t.Step, float64(count)/t.Step, 1-exchanged/t.Step
		aa, am, mm, ab, mb = aa+a*a, am+a*m, mm+m*m, ab+a*b, mb+m*b
	}
	s.Slowdown, s.WaitSeconds = 1, 0
	if aa <= 0 {
		return
	}
	if wait := (aa*mb - am*ab) / (aa*mm - am*am); wait > 0 && wait < mostSlowdown { // not positive or not a number: 0
		s.WaitSeconds = digits(wait)
	}
	if slowdown := (ab - am*s.WaitSeconds) / aa; slowdown > 0 {
		s.Slowdown = digits(slowdown)
	}
}

// together returns the time of several processes for a step or a batch. One process alone takes the given seconds for
// its share. An evaluation needs no exchange.
func (p *Profile) together(alone float64, w Work) float64 {
	if w.Kind == Batches {
		return p.atDevices(w.Devices, alone, func(s *Processes) float64 { return alone * s.Slowdown })
	}
	return p.atDevices(w.Devices, alone, func(s *Processes) float64 { return s.step(alone, w.Network) })
}

// ExchangeSeconds returns the time in which several devices exchange the gradients of a step; zero if it is not known.
func (p *Profile) ExchangeSeconds(w Work) float64 {
	switch {
	case w.Devices <= 1:
		return 0
	case len(p.Processes) == 0:
		return p.Costs.ExchangeSeconds
	}
	return p.atDevices(w.Devices, 0, func(s *Processes) float64 { return s.step(0, w.Network) })
}

// atDevices interpolates a time between two measured numbers of processes. Between them, and beyond them, the time is a
// linear function of the number. One process takes the time that the argument one states.
func (p *Profile) atDevices(devices int, one float64, time func(*Processes) float64) float64 {
	all := p.Processes
	at := min(sort.Search(len(all), func(k int) bool { return all[k].Count >= devices }), len(all)-1)
	count, seconds := 1, one
	if at > 0 {
		count, seconds = all[at-1].Count, time(&all[at-1])
	}
	share := float64(devices-count) / float64(all[at].Count-count)
	return max(0, seconds+share*(time(&all[at])-seconds))
}

// Messages returns the sizes, in bytes, of the tensors that processes add in a step: the gradients, and the sums of
// each batch normalisation in the forward and in the backward pass, in double precision.
func Messages(n *model.Network) []int64 {
	messages := []int64{4 * int64(n.Parameters())}
	for _, channels := range normalised(n) {
		messages = append(messages, 16*channels+8, 16*channels)
	}
	return messages
}

// normalised returns the number of channels of each batch normalisation.
func normalised(n *model.Network) (channels []int64) {
	if n.Graph == nil {
		for _, leaf := range n.Leaves() {
			if norm, is := leaf.Layer.(model.BatchNorm); is {
				channels = append(channels, int64(norm.Features))
			}
		}
		return channels
	}
	for k := range n.Graph.Nodes {
		if node := &n.Graph.Nodes[k]; strings.HasPrefix(node.Operator, "batch_norm.") {
			mean, _ := node.Arg("running_mean").(graph.Weight)
			if t := n.Graph.Tensor(string(mean)); t != nil && len(t.Shape) == 1 {
				channels = append(channels, int64(t.Shape[0]))
			} else {
				channels = append(channels, 0)
			}
		}
	}
	return channels
}

// processFaults lists the invalid values of a profile's processes.
func (p *Profile) processFaults() (found validate.Faults) {
	for k, s := range p.Processes {
		found = append(found, s.faults(k)...)
	}
	counts := func(a, b Processes) int { return a.Count - b.Count }
	found.Unless(slices.IsSortedFunc(p.Processes, counts), "processes: the numbers of processes must increase")
	for k := range p.Processes {
		found.When(k > 0 && p.Processes[k].Count == p.Processes[k-1].Count, "processes: %d processes are listed twice",
			p.Processes[k].Count)
	}
	found.When(len(p.Processes) > 0 && (p.Costs.CommunicationShare > 0 || p.Costs.ExchangeSeconds > 0), "processes, "+
		"which are measured, and costs.communication_share or costs.exchange_seconds are set; remove one of them")
	return found
}
