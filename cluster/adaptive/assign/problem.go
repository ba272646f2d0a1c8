package assign

import "math"

// Problem is an allocation problem: jobs that compete for the devices of identical nodes. At most one multi-node job
// may use a node.
type Problem struct {
	Nodes, Devices int // number of nodes, and number of devices per node
	Jobs           []Job
}

// Job holds the properties of a job that the solver needs: its current devices, its maximum number of devices, and the
// value of each allocation.
type Job struct {
	Present []Share // current devices of the job; nil means none
	Most    int     // maximum number of devices
	Value   func(devices int, spans, moves bool) float64
}

// Share is a number of devices on one node.
type Share struct{ Node, Devices int }

// Result is an allocation of devices to all jobs, with its objective value and an upper bound on this value.
type Result struct {
	Shares [][]Share // devices of each job on each node, in the order of the jobs
	Value  float64   // sum of the jobs' values under this allocation
	Bound  float64   // upper bound of the sum of the jobs' values under every allocation
}

// table holds the values of a job by number of devices.
type table struct {
	moved   [2][]float64 // on one node and on several, for a job that moves
	present float64      // value of the current devices
	devices int          // number of current devices
	options []option     // options that no cheaper one beats
	moving  []option     // same, if the job cannot stay
}

// option is a number of devices of a job, on any nodes.
type option struct {
	devices int
	value   float64
	stays   bool // the job keeps its current devices
}

// table computes the values of a job.
func (p *Problem) table(j *Job) (t table) {
	most := min(j.Most, p.Nodes*p.Devices)
	t.devices = sum(j.Present)
	for spans := range 2 {
		t.moved[spans] = make([]float64, most+1)
		for n := range most + 1 {
			t.moved[spans][n] = j.Value(n, spans > 0 && n > 0, n > 0 || t.devices > 0)
		}
	}
	t.present = j.Value(t.devices, len(j.Present) > 1, false)
	for n := range max(most, t.devices) + 1 {
		o := p.option(&t, n, most)
		t.moving = appendBetter(t.moving, o)
		if n == t.devices && t.present >= o.value {
			o.value, o.stays = t.present, true
		}
		t.options = appendBetter(t.options, o)
	}
	return t
}

// appendBetter appends an option if its value exceeds every option with fewer devices.
func appendBetter(list []option, o option) []option {
	if len(list) == 0 || o.value > list[len(list)-1].value {
		list = append(list, o)
	}
	return list
}

// option returns the best value of a number of devices for a job that moves.
func (p *Problem) option(t *table, n, most int) option {
	o := option{devices: n, value: math.Inf(-1)}
	if n <= most {
		o.value = t.moved[place(n > p.Devices)][n]
		if n > 1 {
			o.value = max(o.value, t.moved[1][n])
		}
	}
	return o
}

func sum(shares []Share) (devices int) {
	for _, s := range shares {
		devices += s.Devices
	}
	return devices
}

// place returns the index in a table for devices on one node or on several.
func place(spans bool) int {
	if spans {
		return 1
	}
	return 0
}
