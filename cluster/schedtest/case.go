package schedtest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"graft/cluster"
	"graft/cluster/trace"
)

// Case is a small study with the settings of its simulation. In the text form of a case, each line has a keyword and
// its arguments. [Case.String] writes the text form, and [Parse] reads it. For example, "each 8" sets eight devices per
// node, "vc a 2" adds a virtual cluster with two nodes, and "job j1 vc a at 0 for 30 on 4" adds a job that is submitted
// at second 0 and takes 30 seconds on four devices.
type Case struct {
	Study    cluster.Study
	Options  cluster.Options
	Profiler Profiler
	Scalings []Scaling // node changes of the first virtual cluster
}

// Scaling is the addition or removal of a node.
type Scaling struct {
	At    int64 // second of the change, which is applied after all other events of that second
	Nodes int   // 1 adds a node, -1 removes a node
}

// Profiler holds the options of schedulers with a profiler. Zero values mean the defaults.
type Profiler struct {
	Nodes   int      // number of nodes of the profiler
	Limit   int64    // profiling time per job in seconds
	Largest int      // maximum number of devices of a job to profile
	From    []string // virtual clusters that each give the profiler one node
	Echo    string   // virtual cluster that lends the profiler an additional node on demand
}

// Parse reads a case from a script. Empty lines and lines that begin with # are ignored.
func Parse(text string) (*Case, error) {
	c := &Case{}
	for k, line := range strings.Split(text, "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		read, known := readers[words[0]]
		if !known {
			return nil, fmt.Errorf("line %d: unknown keyword %q; expected each, begin, place, quirk, vc, type, "+
				"speed, scale, profiler, alone, pair, ahead or job", k+1, words[0])
		}
		s := &scan{words: words[1:]}
		if read(c, s); s.fault == nil && len(s.words) > 0 {
			s.fault = fmt.Errorf("unexpected word %q at the end of the line", s.words[0])
		}
		if s.fault != nil {
			return nil, fmt.Errorf("line %d: %w", k+1, s.fault)
		}
	}
	return c, nil
}

// scan reads the words of a line. It keeps its first fault.
type scan struct {
	words []string
	fault error
}

func (s *scan) text() string {
	if len(s.words) == 0 {
		if s.fault == nil {
			s.fault = errors.New("the line ends early; expected another word")
		}
		return ""
	}
	word := s.words[0]
	s.words = s.words[1:]
	return word
}

func (s *scan) whole() int64 {
	word := s.text()
	x, err := strconv.ParseInt(word, 10, 64)
	s.fault = cmpError(s.fault, err)
	return x
}

func (s *scan) number() float64 {
	x, err := strconv.ParseFloat(s.text(), 64)
	s.fault = cmpError(s.fault, err)
	return x
}

func cmpError(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

var readers = map[string]func(c *Case, s *scan){
	"each":  func(c *Case, s *scan) { c.Study.PerNode = int(s.whole()) },
	"begin": func(c *Case, s *scan) { c.Study.Begin = s.whole() },
	"place": func(c *Case, s *scan) { c.Options.Placement = s.text() },
	"quirk": func(c *Case, s *scan) { c.Options.Quirks = append(c.Options.Quirks, s.text()) },
	"vc": func(c *Case, s *scan) {
		c.Study.VCs = append(c.Study.VCs, trace.VC{Name: s.text(), Nodes: int(s.whole())})
	},
	"scale": func(c *Case, s *scan) {
		c.Scalings = append(c.Scalings, Scaling{At: s.whole(), Nodes: int(s.whole())})
	},
	"type": readType,
	"speed": func(c *Case, s *scan) {
		name, model := s.text(), s.text()
		for k := range c.Study.Types {
			if t := &c.Study.Types[k]; t.Name == name {
				if t.Speeds == nil {
					t.Speeds = map[string]float64{}
				}
				t.Speeds[model] = s.number()
				return
			}
		}
		s.fault = cmpError(s.fault, fmt.Errorf("unknown type %q; expected a line with the keyword type before", name))
	},
	"profiler": readProfiler,
	"alone": func(c *Case, s *scan) {
		c.profiles().Scores[cluster.Config{Model: s.text()}] = int(s.whole())
	},
	"pair": func(c *Case, s *scan) {
		a, b := cluster.Config{Model: s.text()}, cluster.Config{Model: s.text()}
		c.profiles().Pairs[[2]cluster.Config{a, b}] = [2]float64{s.number(), s.number()}
	},
	"ahead": func(c *Case, s *scan) {
		if c.Study.Forecast == nil {
			c.Study.Forecast = &cluster.Forecast{}
		}
		f := c.Study.Forecast
		f.At, f.Jobs, f.GPUs = append(f.At, s.whole()), append(f.Jobs, s.number()), append(f.GPUs, s.number())
	},
	"job": readJob,
}

func (c *Case) profiles() *cluster.Profiles {
	if c.Study.Profiles == nil {
		c.Study.Profiles = &cluster.Profiles{Scores: map[cluster.Config]int{},
			Pairs: map[[2]cluster.Config][2]float64{}}
	}
	return c.Study.Profiles
}

func readProfiler(c *Case, s *scan) {
	for len(s.words) > 0 {
		switch word := s.text(); word {
		case "nodes":
			c.Profiler.Nodes = int(s.whole())
		case "limit":
			c.Profiler.Limit = s.whole()
		case "largest":
			c.Profiler.Largest = int(s.whole())
		case "from":
			c.Profiler.From = append(c.Profiler.From, s.text())
		case "echo":
			c.Profiler.Echo = s.text()
		default:
			s.fault = cmpError(s.fault, fmt.Errorf("unknown key %q of a profiler; expected nodes, limit, "+
				"largest, from or echo", word))
		}
	}
}

// readType reads a type of nodes, such as "type a100 gpus 4 speed 1.5 a 2", with two nodes in virtual cluster a.
func readType(c *Case, s *scan) {
	t := cluster.NodeType{Name: s.text(), Nodes: map[string]int{}}
	for len(s.words) > 0 {
		switch word := s.text(); word {
		case "speed":
			t.Speed = s.number()
		case "gpus":
			t.GPUs = int(s.whole())
		default:
			t.Nodes[word] = int(s.whole())
		}
	}
	c.Study.Types = append(c.Study.Types, t)
}

// Enlarge adds nodes to each virtual cluster. They have the first type.
func (c *Case) Enlarge(nodes int) {
	for k := range c.Study.VCs {
		c.Study.VCs[k].Nodes += nodes
		if len(c.Study.Types) > 0 {
			c.Study.Types[0].Nodes[c.Study.VCs[k].Name] += nodes
		}
	}
}

func readJob(c *Case, s *scan) {
	training := &trace.Training{}
	j := trace.Job{ID: s.text(), Training: training}
	estimate, known := 0.0, false
	for len(s.words) > 0 {
		switch word := s.text(); word {
		case "vc":
			j.VC = s.text()
		case "at":
			j.Submit = s.whole()
		case "for":
			j.Duration = s.whole()
		case "on":
			j.GPUs = int(s.whole())
		case "share":
			j.Share = int(s.whole())
		case "model":
			training.Model = s.text()
		case "memory":
			training.Memory = s.number()
		case "type":
			j.GPUType = s.text()
		case "needs":
			j.GPUType, j.NeedsType = s.text(), true
		case "limit":
			j.Limit = s.whole()
		case "estimate":
			estimate, known = s.number(), true
		default:
			s.fault = cmpError(s.fault, fmt.Errorf("unknown key %q of a job; expected vc, at, for, on, share, model, "+
				"memory, type, needs, limit or estimate", word))
		}
	}
	c.Study.Jobs = append(c.Study.Jobs, j)
	if known {
		c.Study.Estimates = append(c.Study.Estimates, estimate)
	}
}

// String returns the case as a script.
func (c *Case) String() string {
	w := &strings.Builder{}
	fmt.Fprintf(w, "each %d\nbegin %d\n", c.Study.PerNode, c.Study.Begin)
	if c.Options.Placement != "" {
		fmt.Fprintf(w, "place %s\n", c.Options.Placement)
	}
	for _, name := range c.Options.Quirks {
		fmt.Fprintf(w, "quirk %s\n", name)
	}
	for _, vc := range c.Study.VCs {
		fmt.Fprintf(w, "vc %s %d\n", vc.Name, vc.Nodes)
	}
	c.writeTypes(w)
	for _, s := range c.Scalings {
		fmt.Fprintf(w, "scale %d %d\n", s.At, s.Nodes)
	}
	c.writeProfiler(w)
	c.writeProfiles(w)
	if f := c.Study.Forecast; f != nil {
		for k := range f.At {
			fmt.Fprintf(w, "ahead %d %v %v\n", f.At[k], f.Jobs[k], f.GPUs[k])
		}
	}
	c.writeJobs(w)
	return w.String()
}

func (c *Case) writeTypes(w io.Writer) {
	for _, t := range c.Study.Types {
		fmt.Fprintf(w, "type %s gpus %d speed %v", t.Name, t.GPUs, t.Speed)
		for _, vc := range slices.Sorted(maps.Keys(t.Nodes)) {
			fmt.Fprintf(w, " %s %d", vc, t.Nodes[vc])
		}
		fmt.Fprintln(w)
		for _, model := range slices.Sorted(maps.Keys(t.Speeds)) {
			fmt.Fprintf(w, "speed %s %s %v\n", t.Name, model, t.Speeds[model])
		}
	}
}

func (c *Case) writeProfiler(w io.Writer) {
	p := c.Profiler
	if p.Nodes == 0 && p.Limit == 0 && p.Largest == 0 && len(p.From) == 0 && p.Echo == "" {
		return
	}
	fmt.Fprintf(w, "profiler nodes %d limit %d largest %d", p.Nodes, p.Limit, p.Largest)
	for _, name := range p.From {
		fmt.Fprintf(w, " from %s", name)
	}
	if p.Echo != "" {
		fmt.Fprintf(w, " echo %s", p.Echo)
	}
	fmt.Fprintln(w)
}

func (c *Case) writeProfiles(w io.Writer) {
	if c.Study.Profiles == nil {
		return
	}
	var lines []string
	for config, score := range c.Study.Profiles.Scores {
		lines = append(lines, fmt.Sprintf("alone %s %d\n", config.Model, score))
	}
	for pair, rates := range c.Study.Profiles.Pairs {
		lines = append(lines, fmt.Sprintf("pair %s %s %v %v\n", pair[0].Model, pair[1].Model, rates[0], rates[1]))
	}
	slices.Sort(lines)
	fmt.Fprint(w, strings.Join(lines, ""))
}

func (c *Case) writeJobs(w io.Writer) {
	for k, j := range c.Study.Jobs {
		fmt.Fprintf(w, "job %s vc %s at %d for %d on %d", j.ID, j.VC, j.Submit, j.Duration, j.GPUs)
		if j.Share > 0 {
			fmt.Fprintf(w, " share %d", j.Share)
		}
		t := j.Trains()
		if t.Model != "" {
			fmt.Fprintf(w, " model %s", t.Model)
		}
		if t.Memory != 0 {
			fmt.Fprintf(w, " memory %v", t.Memory)
		}
		if j.GPUType != "" {
			word := "type"
			if j.NeedsType {
				word = "needs"
			}
			fmt.Fprintf(w, " %s %s", word, j.GPUType)
		}
		if j.Limit > 0 {
			fmt.Fprintf(w, " limit %d", j.Limit)
		}
		if c.Study.Estimates != nil {
			fmt.Fprintf(w, " estimate %v", c.Study.Estimates[k])
		}
		fmt.Fprintln(w)
	}
}
