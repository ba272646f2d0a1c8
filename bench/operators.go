package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"graft/model"
	"graft/torch"
	"graft/trainer"
	"graft/trainer/clock"
	"graft/trainer/operators"
	"graft/trainer/probes"
)

// operatorStudy holds what was measured.
type operatorStudy struct {
	Threads int
	Torch   string
	Device  *operators.Device // operators of the small networks
	// number of small networks that were measured only while other programs slowed the machine down
	Disturbed int
	Probes    []measuredNetwork // small networks for rates
	Networks  []measuredNetwork // each network before growth, and after one and two actions
	Quiet     float64           // seconds of the reference while no other program slows the machine down
}

// probesForRates is the number of small networks to which rates are fitted, to compare with.
const probesForRates = 120

// studyOperators predicts steps of networks from operators that were measured in other networks.
func (b *bench) studyOperators(out io.Writer) error {
	study, err := readStudy(b.keep)
	if err != nil {
		return err
	}
	if study == nil {
		if study, err = b.measureOperators(); err != nil {
			return err
		}
		if b.keep != "" {
			text, err := json.Marshal(study)
			if err == nil {
				err = os.WriteFile(b.keep, text, 0o600)
			}
			if err != nil {
				return err
			}
		}
	}
	return study.print(out)
}

func readStudy(file string) (*operatorStudy, error) {
	text, err := os.ReadFile(file)
	if file == "" || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	study := &operatorStudy{}
	return study, json.Unmarshal(text, study)
}

func (b *bench) measureOperators() (*operatorStudy, error) {
	if err := torch.SetThreads(b.options.threads); err != nil {
		return nil, err
	}
	runtime, err := torch.Describe()
	if err != nil {
		return nil, err
	}
	all, err := probes.Draw(probes.Options{Seed: uint64(b.seed), Count: b.probes})
	if err != nil {
		return nil, err
	}
	s := &operatorStudy{Threads: b.options.threads, Torch: runtime.Version}
	if s.Networks, err = networksToPredict(); err != nil {
		return nil, err
	}
	for _, p := range all[:min(len(all), probesForRates)] {
		s.Probes = append(s.Probes, measuredNetwork{Name: "probe", Rows: p.Rows, network: p.Network})
	}
	return s, s.measure(context.Background(), all, trainer.MeasureOptions{Rounds: b.rounds, Now: time.Now})
}

// measure measures operators, small networks for rates, and the networks to predict. They take turns, so a slow phase
// of the machine affects all of them. The networks to predict have several measurements in a turn.
func (s *operatorStudy) measure(ctx context.Context, all []probes.Probe, o trainer.MeasureOptions) error {
	const bursts = 6
	var failed error
	o.Tell = func(_ string, done, of int) {
		if failed == nil && (done == of || done%len(all) == 0) {
			failed = measureSteps(ctx, s.Networks, bursts)
		}
		if failed == nil && done%len(all) == 0 {
			failed = measureSteps(ctx, s.Probes, 1)
		}
	}
	measured, err := trainer.MeasureOperators(ctx, all, o)
	if err = errors.Join(err, failed); err != nil {
		return err
	}
	s.Device, s.Disturbed, s.Quiet = measured.Device, measured.Disturbed, measured.Quiet
	return nil
}

// stepPredictor is a way to predict steps.
type stepPredictor struct {
	name    string
	seconds func(n *model.Network, rows int) (float64, error)

	stepErrors
}

// stepErrors holds the relative errors of predictions.
type stepErrors struct {
	steps, growth []float64 // errors of steps, and of the ratio of a grown network to the network before growth

	base float64 // ratio of the predicted step to the measured one before growth
}

// add adds a ratio of a predicted step to the measured one.
func (e *stepErrors) add(ratio float64, grown bool) {
	if e.steps = append(e.steps, math.Abs(ratio-1)); !grown {
		e.base = ratio
	} else {
		e.growth = append(e.growth, math.Abs(ratio/e.base-1))
	}
}

func (e *stepErrors) String() string {
	far := 0
	for _, off := range e.steps {
		if off > 0.2 {
			far++
		}
	}
	return fmt.Sprintf("%d steps off by %.1f%% in the median, %.1f%% at worst, %d by more than 20%%; growth by %.1f%% "+
		"in the median, %.1f%% at worst", len(e.steps), 100*median(e.steps), 100*slices.Max(e.steps), far,
		100*median(e.growth), 100*slices.Max(e.growth))
}

func (s *operatorStudy) predictors() []*stepPredictor {
	device := operators.NewDevicePredictor(s.Device)
	m, each := clock.Measured{}, []float64{}
	for k := range s.Probes {
		p := s.Probes[k].quiet(s.Quiet)
		m.Networks = append(m.Networks, p)
		each = append(each, p.StepSeconds/float64(p.Operations+p.Grouped)/float64(p.Batch))
	}
	rates := m.Profile("rates", "this machine", clock.Provenance{})
	perOperation := median(each)
	return []*stepPredictor{
		{name: "operators", seconds: func(n *model.Network, rows int) (float64, error) {
			made, err := device.Predict(n, "", rows)
			return made.Step, err
		}},
		{name: "rates", seconds: func(n *model.Network, rows int) (float64, error) {
			w := clock.Work{Kind: clock.Steps, Count: 1, Rows: rows, Network: n}
			return rates.Cost(w).Seconds(), rates.Knows(w)
		}},
		{name: "floating-point operations", seconds: func(n *model.Network, rows int) (float64, error) {
			count, err := n.Operations()
			return perOperation * float64(count) * float64(rows), err
		}},
	}
}

func (s *operatorStudy) print(out io.Writer) error {
	fmt.Fprintf(out, "\nsteps predicted from operators of %d small networks, LibTorch %s, threads: %d\n"+
		"small networks that were measured only while other programs slowed the machine down: %d\n",
		s.Device.Networks, s.Torch, s.Threads, s.Disturbed)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, "network\tbatch\tactions\tstep [ms]\t")
	predictors := s.predictors()
	for _, p := range predictors {
		fmt.Fprintf(table, "%s\t", p.name)
	}
	fmt.Fprintln(table)
	for k := range s.Networks {
		if err := s.printNetwork(table, &s.Networks[k], predictors); err != nil {
			return err
		}
	}
	for _, p := range predictors {
		fmt.Fprintf(table, "\n%s: %s\n", p.name, &p.stepErrors)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return s.printPredictionTimes(out)
}

func (s *operatorStudy) printNetwork(out io.Writer, m *measuredNetwork, predictors []*stepPredictor) error {
	if err := m.grow(); err != nil {
		return err
	}
	quiet := m.quiet(s.Quiet).StepSeconds
	fmt.Fprintf(out, "%s\t%d\t%d\t%.2f\t", m.Name, m.Rows, len(m.Actions), 1e3*quiet)
	for _, by := range predictors {
		seconds, err := by.seconds(m.network, m.Rows)
		if err != nil {
			return err
		}
		by.add(seconds/quiet, len(m.Actions) > 0)
		fmt.Fprintf(out, "%+.1f%%\t", 100*(seconds/quiet-1))
	}
	fmt.Fprintln(out)
	return nil
}
