package adaptive

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"graft/cluster"
	"graft/internal/files"
	"graft/trainer/goodput"
)

// readPlacements reads measured step times, and the minimum and maximum examples per device.
func readPlacements(fsys files.FS, dir string) (t *Times, least, most int, err error) {
	t = &Times{placed: map[string]*series{}, spread: map[[2]int]*series{}}
	t.fitted = sync.OnceValue(func() *goodput.Speed { fit := goodput.Fit(t.measured); return &fit })
	read := map[string]*series{}
	path := filepath.Join(dir, placementsFile)
	err = cluster.ReadRows(fsys, path, func(r *cluster.Row) error {
		placement := r.Text("placement")
		r.Expect(isPlacement(placement), "placement", "one to eight digits from 1 to 9, one digit per node")
		s := read[placement]
		if s == nil {
			s = &series{}
			read[placement] = s
		}
		device, step, wait := measured(r)
		r.Expect(len(s.device) == 0 || device > s.device[len(s.device)-1], "local_bsz",
			"a larger value than in the previous row of this placement")
		s.add(device, step, wait)
		t.measured = append(t.measured, goodput.Measured{Nodes: len(placement), Devices: sum(placement), Device: device,
			Compute: step - wait, Step: step})
		return tooMany(path, len(t.measured))
	})
	if err == nil && len(t.measured) == 0 {
		err = fmt.Errorf("read %s: the file has no rows; expected measured step times of at least one placement", path)
	}
	if err != nil {
		return nil, 0, 0, err
	}
	for _, placement := range slices.Sorted(maps.Keys(read)) {
		rotations(digits(placement), func(key string) { t.placed[key] = read[placement] })
	}
	least, most = math.MaxInt, 0
	for _, m := range t.measured {
		least, most = min(least, m.Device), max(most, m.Device)
	}
	return t, least, most, t.readScales(fsys, filepath.Join(dir, scalesFile))
}

// readScales reads times by numbers of nodes and devices.
func (t *Times) readScales(fsys files.FS, path string) error {
	err := cluster.ReadRows(fsys, path, func(r *cluster.Row) error {
		nodes, devices := r.Whole("num_nodes"), r.Whole("num_replicas")
		r.Expect(nodes >= 1, "num_nodes", "at least 1 node")
		r.Expect(devices >= nodes, "num_replicas", fmt.Sprintf("at least %d, one device per node", nodes))
		device, step, wait := measured(r)
		t.measured = append(t.measured, goodput.Measured{Nodes: nodes, Devices: devices, Device: device,
			Compute: step - wait, Step: step})
		return tooMany(path, len(t.measured))
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// measured reads the columns of a measurement.
func measured(r *cluster.Row) (device int, step, sync float64) {
	device, step, sync = r.Whole("local_bsz"), r.Number("step_time"), r.Number("sync_time")
	r.Expect(device >= 1, "local_bsz", "at least 1 example")
	r.Expect(step > 0, "step_time", "more than 0 seconds")
	r.Expect(sync >= 0 && sync < step, "sync_time", "at least 0 and less than step_time, in seconds")
	return device, step, sync
}

func (s *series) add(device int, step, sync float64) {
	s.device, s.step, s.sync = append(s.device, device), append(s.step, step), append(s.sync, sync)
}

func isPlacement(text string) bool {
	return text != "" && len(text) <= mostPlaced && strings.Trim(text, "123456789") == ""
}

// digits parses the devices of each node of a placement.
func digits(text string) (placement []byte) {
	for _, c := range []byte(text) {
		placement = append(placement, c-'0')
	}
	return placement
}

func sum(text string) (n int) {
	for _, c := range digits(text) {
		n += int(c)
	}
	return n
}

// readTimes reads the times of placements that were not measured, if the folder has the files.
func readTimes(fsys files.FS, dir string, apps map[string]*Application) error {
	var tables map[string]struct {
		Interpolated map[string]struct {
			B          []int
			Step, Sync []*float64
		}
	}
	if err := decodeGzip(fsys, filepath.Join(dir, stepsFile), &tables); err != nil {
		return err
	}
	for name, table := range tables {
		a := apps[name]
		if a == nil {
			continue
		}
		for key, rows := range table.Interpolated {
			place, s, err := spreadOf(key, rows.B, rows.Step, rows.Sync)
			if err != nil {
				return fmt.Errorf("read %s: application %s: %w", stepsFile, name, err)
			}
			a.times.spread[place] = s
			a.times.most = max(a.times.most, place[0])
		}
	}
	return readMeshes(fsys, dir, apps)
}

// spreadOf parses the times for a number of nodes and devices. A null step means unknown.
func spreadOf(key string, b []int, step, sync []*float64) (place [2]int, s *series, err error) {
	nodes, devices, _ := strings.Cut(key, ",")
	n, err1 := strconv.Atoi(nodes)
	d, err2 := strconv.Atoi(devices)
	if err1 != nil || err2 != nil || n < 1 || d < n || len(step) != len(b) || len(sync) != len(b) ||
		!slices.IsSorted(b) {
		return place, nil, fmt.Errorf("the entry %q is malformed; expected a key \"NODES,DEVICES\", an ascending "+
			"list \"b\", and lists \"step\" and \"sync\" of the same length as \"b\"", key)
	}
	s = &series{exact: true}
	for k, device := range b {
		if step[k] == nil || sync[k] == nil {
			s.add(device, -1, 0)
			continue
		}
		if !(*step[k] > 0 && *sync[k] <= *step[k]) {
			return place, nil, fmt.Errorf("the entry %q has step time %[3]v and sync time %[4]v for %[2]d examples; "+
				"expected a step time above 0 and a sync time of at most the step time", key, device, *step[k],
				*sync[k])
		}
		s.add(device, *step[k], *sync[k])
	}
	return [2]int{n, d}, s, nil
}

func readMeshes(fsys files.FS, dir string, apps map[string]*Application) error {
	var read map[string]struct {
		Points     [][3]float64
		Step, Sync []float64
		Simplices  [][4]int
	}
	if err := decodeGzip(fsys, filepath.Join(dir, meshFile), &read); err != nil {
		return err
	}
	for name, r := range read {
		a := apps[name]
		if a == nil {
			continue
		}
		m := &mesh{r.Points, r.Step, r.Sync, r.Simplices}
		if err := m.check(); err != nil {
			return fmt.Errorf("read %s: application %s: %w", meshFile, name, err)
		}
		a.times.mesh = m
	}
	return nil
}

func (m *mesh) check() error {
	if len(m.step) != len(m.points) || len(m.sync) != len(m.points) {
		return fmt.Errorf("the mesh of measured step times has %d points, %d step times and %d sync times; expected "+
			"equal numbers", len(m.points), len(m.step), len(m.sync))
	}
	for _, cell := range m.cells {
		for _, corner := range cell {
			if corner < 0 || corner >= len(m.points) {
				return fmt.Errorf("a tetrahedron of the mesh refers to point %d; expected 0 to %d", corner,
					len(m.points)-1)
			}
		}
	}
	return nil
}

// maxJSONBytes is the maximum size of a file of times after decompression.
const maxJSONBytes = 256 << 20

// decodeGzip reads a compressed JSON value. If the file does not exist, the value stays unchanged.
func decodeGzip(fsys files.FS, path string, into any) error {
	file, err := fsys.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	defer file.Close()
	text, err := unzip(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	return nil
}

func unzip(file io.Reader) ([]byte, error) {
	z, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(z, maxJSONBytes+1))
	if err == nil && len(text) > maxJSONBytes {
		err = fmt.Errorf("the decompressed file is larger than the limit of %d bytes", maxJSONBytes)
	}
	return text, err
}
