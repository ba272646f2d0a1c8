package telemetry

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"graft/internal/files"
)

// ErrNoRAPL means that the energy of this machine's processors cannot be read.
var ErrNoRAPL = errors.New("CPU energy measurements are not available")

// powercap is Linux's folder of RAPL (Running Average Power Limit) counters: see Documentation/power/powercap in the
// kernel's sources.
const powercap = "/sys/class/powercap"

// RAPL reads the energy counters of processors and of their memory. Its devices are the domains "package" and "DRAM" of
// each socket, which do not overlap. OpenRAPL creates it; the zero value cannot be used.
type RAPL struct {
	fsys    files.FS
	domains []*domain
}

var _ Source = (*RAPL)(nil)

// domain is a part of a processor with a counter. The counter wraps around at its range, within minutes under load, so
// it must be read more often.
type domain struct {
	path  string
	about Device
	most  uint64 // range of the counter in microjoules; zero means unknown
	last  uint64 // microjoules
	total uint64 // microjoules since the source was opened; meaningless when lost
	lost  bool   // the counter fell and its range is unknown
}

// OpenRAPL finds the energy counters below a folder. An empty path means /sys/class/powercap. A returned error wraps
// ErrNoRAPL and contains a remedy.
func OpenRAPL(fsys files.FS, root string) (*RAPL, error) {
	root = cmp.Or(root, powercap)
	r := &RAPL{fsys: fsys}
	entries, err := fsys.ReadDir(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open RAPL: %w: folder %s does not exist; most virtual machines lack it",
			ErrNoRAPL, root)
	}
	if err != nil {
		return nil, fmt.Errorf("open RAPL: %w: %w", ErrNoRAPL, err)
	}
	for _, e := range entries {
		if zone := strings.Split(e.Name(), ":"); zone[0] != "intel-rapl" || len(zone) < 2 || len(zone) > 3 {
			continue
		}
		if err := r.open(filepath.Join(root, e.Name())); err != nil {
			return nil, fmt.Errorf("open RAPL: %w: %w", ErrNoRAPL, err)
		}
	}
	if len(r.domains) == 0 {
		return nil, fmt.Errorf("open RAPL: %w: %s has no processor counters, as on most virtual machines",
			ErrNoRAPL, root)
	}
	return r, nil
}

// open adds a domain if it is a measured one.
func (r *RAPL) open(path string) error {
	name, err := r.text(path, "name")
	if err != nil {
		return err
	}
	if !strings.HasPrefix(name, "package") && name != "dram" {
		return nil
	}
	d := &domain{path: path, about: Device{Index: len(r.domains), UUID: filepath.Base(path), Name: name,
		MIG: Known(false)}}
	if d.last, err = r.counter(path, "energy_uj"); err != nil {
		return err
	}
	d.most, _ = r.counter(path, "max_energy_range_uj") // on error, the energy is unknown after a wrap-around
	r.domains = append(r.domains, d)
	return nil
}

func (r *RAPL) counter(path, name string) (uint64, error) {
	text, err := r.text(path, name)
	if errors.Is(err, fs.ErrPermission) {
		return 0, fmt.Errorf("%w; only root can read the counter; run as root, or allow this user to read the file "+
			"(chmod)", err)
	}
	if err != nil {
		return 0, err
	}
	value, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %.40q is not a number of microjoules", filepath.Join(path, name), text)
	}
	return value, nil
}

// longestText limits the files of a counter, in bytes.
const longestText = 1 << 12

func (r *RAPL) text(path, name string) (string, error) {
	text, err := files.ReadAll(r.fsys, filepath.Join(path, name), longestText)
	return strings.TrimSpace(string(text)), err
}

// Devices lists the domains that have counters.
func (r *RAPL) Devices() []Device {
	list := make([]Device, len(r.domains))
	for k, d := range r.domains {
		list[k] = d.about
	}
	return list
}

// Read returns the energy of a domain, in joules since the source was opened. All other values are unknown.
func (r *RAPL) Read(device int) (Reading, error) {
	reading := Reading{Device: device}
	if device < 0 || device >= len(r.domains) {
		return reading, fmt.Errorf("read RAPL counter %d: this machine has only %d counters", device, len(r.domains))
	}
	d := r.domains[device]
	now, err := r.counter(d.path, "energy_uj")
	if err != nil {
		return reading, fmt.Errorf("read RAPL: %w", err)
	}
	if d.pass(now); !d.lost {
		reading.EnergyJoules = Known(float64(d.total) / 1e6)
	}
	return reading, nil
}

// pass adds the energy since the last value of the counter.
func (d *domain) pass(now uint64) {
	switch {
	case now >= d.last:
		d.total += now - d.last
	case d.most >= d.last:
		d.total += d.most - d.last + now
	default:
		d.lost = true
	}
	d.last = now
}

// Close does nothing.
func (r *RAPL) Close() error { return nil }
