package assign

import "math"

// Problem is jobs that share equal nodes. A node may hold parts of one job at most that is on several nodes.
type Problem struct {
	Nodes, Devices int // nodes, and devices of each
	Jobs           []Job
}

// Job is a job that wants devices.
type Job struct {
	Present []Share // devices that it has
	Most    int     // largest number of devices
	Value   func(devices int, spans, moves bool) float64
}

// Share is devices of one node.
type Share struct{ Node, Devices int }

// Result is a solution.
type Result struct {
	Shares [][]Share // of each job, by node
	Value  float64   // sum of the jobs' values
	Bound  float64   // no solution has a larger sum
}

// table is the values of a job by the number of devices.
type table struct {
	moved   [2][]float64 // on one node, and on several, where it is not now
	present float64      // of the devices that it has
	devices int          // that it has
	options []option     // that no cheaper one beats
	moving  []option     // the same where it cannot stay
}

// option is a number of devices of a job, wherever they are.
type option struct {
	devices int
	value   float64
	stays   bool // on the devices that it has
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

// appendBetter appends an option if it is worth more than those with fewer devices.
func appendBetter(list []option, o option) []option {
	if len(list) == 0 || o.value > list[len(list)-1].value {
		list = append(list, o)
	}
	return list
}

// option is the most that a number of devices can be worth to a job that moves.
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

// place is where a table has values of devices on several nodes.
func place(spans bool) int {
	if spans {
		return 1
	}
	return 0
}
