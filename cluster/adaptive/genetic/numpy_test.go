package genetic

import (
	"encoding/json"
	"fmt"
	"slices"

	"graft/internal/random/twister"
)

// numpyDraws draws as the original does, array by array, from NumPy's generator or from a record.
type numpyDraws struct {
	real    func(n int) []float64
	integer func(low []int, high int) []int // each from its own lower limit to high
	permute func(n int) []int
	choose  func(a, b int32) int32

	orders []float64
	width  int
	height int
}

func (d *numpyDraws) shuffle(list []int32) {
	old := slices.Clone(list)
	for k, from := range d.permute(len(list)) {
		list[k] = old[from]
	}
}

func (d *numpyDraws) either(a, b int32) int32 { return d.choose(a, b) }

func (d *numpyDraws) cross(points []int32, jobs int) {
	crossed := d.real(len(points))
	for k, point := range d.integer(make([]int, len(points)), jobs-1) {
		points[k] = 0
		if crossed[k] < crossRate {
			points[k] = int32(point)
		}
	}
	d.integer(make([]int, 2*len(points)), 32766) // the original draws these and ignores them
}

func (d *numpyDraws) rows(hits []int32, n int) []int32 {
	for k, u := range d.real(n) {
		if u < rowRate {
			hits = append(hits, int32(k))
		}
	}
	return hits
}

func (d *numpyDraws) bytes(hits, rows []int32, n, nodes int) []int32 {
	for k, u := range d.real(n * nodes) {
		if u < removeRate && slices.Contains(rows, int32(k/nodes)) {
			hits = append(hits, int32(k))
		}
	}
	return hits
}

func (d *numpyDraws) raise(s *search, n int) {
	rows, nodes := n*len(s.p.Jobs), s.p.Nodes
	chances := d.real(rows * nodes)
	row := func(at int) []uint64 { return s.batch[at/nodes*s.p.words : (at/nodes+1)*s.p.words] }
	old := make([]int, rows*nodes)
	for at := range old {
		old[at] = int(byteAt(row(at), at%nodes))
	}
	raised := d.integer(old, s.p.Devices)
	for at := range old {
		if at%(len(s.p.Jobs)*nodes) == 0 {
			s.openings(s.state(at / (len(s.p.Jobs) * nodes)))
		}
		if byteAt(s.open, at%nodes) == 0 {
			continue
		}
		any, own := 1/float64(len(s.p.Jobs)), 0.0
		if old[at] > 0 {
			own = 1 / float64(byteAt(s.holders, at%nodes))
		}
		if chances[at] < any+own-any*own {
			setByte(row(at), at%nodes, uint64(raised[at]))
		}
	}
}

func (d *numpyDraws) repairs(n, jobs, nodes int) {
	d.orders, d.width, d.height = d.real(n*jobs*nodes), nodes, jobs
}

func (d *numpyDraws) pick(held []int32, k, state, job int) {
	from := (state*d.height + job) * d.width
	keys := d.orders[from : from+d.width]
	for other := k + 1; other < len(held); other++ {
		if keys[held[other]] < keys[held[k]] {
			held[k], held[other] = held[other], held[k]
		}
	}
}

// seeded draws like NumPy's legacy generator.
func seeded(r *twister.Random) *numpyDraws {
	upTo := func(limit int) int {
		if limit == 0 {
			return 0
		}
		mask := uint32(1)
		for int(mask) < limit {
			mask = mask<<1 | 1
		}
		for {
			if x := r.Uint32() & mask; int(x) <= limit {
				return int(x)
			}
		}
	}
	return &numpyDraws{
		real: func(n int) (list []float64) {
			for range n {
				list = append(list, r.Float64())
			}
			return list
		},
		integer: func(low []int, high int) (list []int) {
			for _, from := range low {
				list = append(list, from+upTo(high-from))
			}
			return list
		},
		permute: func(n int) []int {
			list := make([]int, n)
			for k := range list {
				list[k] = k
			}
			for k := n - 1; k > 0; k-- {
				other := upTo(k)
				list[k], list[other] = list[other], list[k]
			}
			return list
		},
		choose: func(a, b int32) int32 { return []int32{a, b}[upTo(1)] },
	}
}

// drawn holds one recorded call of a generator: its name and its values.
type drawn [2]json.RawMessage

// replayed returns recorded draws one after the other.
func replayed(record []drawn) *numpyDraws {
	next := func(names ...string) (values []float64) {
		var name string
		must(json.Unmarshal(record[0][0], &name))
		if !slices.Contains(names, name) {
			panic(fmt.Sprintf("the record has %s, not %v", name, names))
		}
		var value any
		must(json.Unmarshal(record[0][1], &value))
		record = record[1:]
		return flatten(nil, value)
	}
	integers := func(name string) (list []int) {
		for _, v := range next(name) {
			list = append(list, int(v))
		}
		return list
	}
	return &numpyDraws{
		real:    func(int) []float64 { return next("random") },
		integer: func([]int, int) []int { return integers("randint") },
		permute: func(int) []int { return integers("permutation") },
		choose:  func(int32, int32) int32 { return int32(integers("choice")[0]) },
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func flatten(list []float64, value any) []float64 {
	if v, ok := value.(float64); ok {
		return append(list, v)
	}
	for _, v := range value.([]any) {
		list = flatten(list, v)
	}
	return list
}
