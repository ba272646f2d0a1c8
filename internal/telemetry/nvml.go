package telemetry

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/NVIDIA/go-nvml/pkg/dl"
	"github.com/NVIDIA/go-nvml/pkg/nvml"
)

// ErrNoNVML means that NVIDIA's management library cannot be used on this machine.
var ErrNoNVML = errors.New("GPU measurements are not available")

// nvmlLibrary is the installed name of the driver's library.
const nvmlLibrary = "libnvidia-ml.so.1"

// NVML reads the state of NVIDIA GPUs through the driver's management library. OpenNVML creates it; the zero value
// cannot be used.
type NVML struct {
	lib     nvml.Interface
	symbols *dl.DynamicLibrary
	devices []*gpu
}

var _ Source = (*NVML)(nil)

// OpenNVML opens NVIDIA's management library and lists the GPUs. An empty path means the driver's own library. A
// returned error wraps ErrNoNVML and contains a remedy.
func OpenNVML(path string) (*NVML, error) {
	path = cmp.Or(path, nvmlLibrary)
	n := &NVML{lib: nvml.New(nvml.WithLibraryPath(path)), symbols: dl.New(path, dl.RTLD_LAZY|dl.RTLD_GLOBAL)}
	if err := n.symbols.Open(); err != nil {
		return nil, fmt.Errorf("open NVML %s: %w: %w; install NVIDIA's driver, or set the path of its library", path,
			ErrNoNVML, err)
	}
	if err := n.begin(); err != nil {
		return nil, errors.Join(fmt.Errorf("open NVML %s: %w: %w", path, ErrNoNVML, err), n.symbols.Close())
	}
	if err := n.list(); err != nil {
		return nil, errors.Join(fmt.Errorf("open NVML %s: %w: %w", path, ErrNoNVML, err), n.Close())
	}
	return n, nil
}

// begin starts the library. The binding calls the library's functions directly, and a missing one would end the
// process: so each is looked up before it is called.
func (n *NVML) begin() error {
	for _, needed := range []string{"nvmlInit", "nvmlDeviceGetCount", "nvmlDeviceGetHandleByIndex"} {
		if !n.has(needed + "_v2") {
			return fmt.Errorf("the library does not have %s; update NVIDIA's driver", needed+"_v2")
		}
	}
	if !n.has("nvmlShutdown") {
		return errors.New("the library does not have nvmlShutdown; update NVIDIA's driver")
	}
	return failureOf(n.lib.Init(), "start")
}

// has reports whether the library has any of these functions.
func (n *NVML) has(symbols ...string) bool {
	for _, symbol := range symbols {
		if n.symbols.Lookup(symbol) == nil {
			return true
		}
	}
	return false
}

// mostGPUs limits the number of GPUs that a library may report.
const mostGPUs = 1024

func (n *NVML) list() error {
	count, code := n.lib.DeviceGetCount()
	if err := failureOf(code, "count the GPUs"); err != nil {
		return err
	}
	if count < 0 || count > mostGPUs {
		return fmt.Errorf("count the GPUs: the library reports %d; expected 0 to %d", count, mostGPUs)
	}
	for k := range count {
		handle, code := n.lib.DeviceGetHandleByIndex(k)
		if err := failureOf(code, fmt.Sprintf("open GPU %d", k)); err != nil {
			return err
		}
		n.devices = append(n.devices, &gpu{of: n, handle: handle, index: k})
	}
	for _, g := range n.devices {
		g.describe()
	}
	return nil
}

// Devices lists the GPUs in NVML's order, which is the order of PCI addresses.
func (n *NVML) Devices() []Device {
	list := make([]Device, len(n.devices))
	for k, g := range n.devices {
		list[k] = g.about
	}
	return list
}

// Read returns the current state of a GPU.
func (n *NVML) Read(device int) (Reading, error) {
	if device < 0 || device >= len(n.devices) {
		return Reading{Device: device}, fmt.Errorf("read GPU %d: this machine has only %d GPUs", device, len(n.devices))
	}
	return n.devices[device].read()
}

// Close shuts the library down.
func (n *NVML) Close() error {
	err := failureOf(n.lib.Shutdown(), "stop NVML")
	return errors.Join(err, n.symbols.Close())
}

// codes maps NVML's return codes of failures to texts and remedies. It does not query the library's own texts: the
// library may lack the function.
var codes = map[nvml.Return]string{
	nvml.ERROR_UNINITIALIZED:      "the library was stopped",
	nvml.ERROR_NO_PERMISSION:      "no permission; give this user access to /dev/nvidiactl",
	nvml.ERROR_INSUFFICIENT_POWER: "the GPU does not get enough power; check its cables",
	nvml.ERROR_DRIVER_NOT_LOADED:  "the driver is not loaded; load it and check with nvidia-smi",
	nvml.ERROR_TIMEOUT:            "the driver does not answer",
	nvml.ERROR_IRQ_ISSUE:          "the kernel reports an interrupt problem",
	nvml.ERROR_LIBRARY_NOT_FOUND:  "the library cannot be loaded; install NVIDIA's driver",
	nvml.ERROR_GPU_IS_LOST:        "the GPU is lost; reset it or restart the machine",
	nvml.ERROR_RESET_REQUIRED:     "the GPU must be reset",
	nvml.ERROR_OPERATING_SYSTEM:   "the operating system blocks the GPU",
	nvml.ERROR_LIB_RM_VERSION_MISMATCH: "the library and the driver have different versions; " +
		"load the new driver or restart the machine",
	nvml.ERROR_MEMORY:  "out of memory",
	nvml.ERROR_UNKNOWN: "unknown driver error; check its log",
}

// absent are the codes for values that a device does not offer; the value is then unknown.
var absent = map[nvml.Return]bool{
	nvml.ERROR_NOT_SUPPORTED: true, nvml.ERROR_NOT_FOUND: true, nvml.ERROR_NO_DATA: true,
	nvml.ERROR_FUNCTION_NOT_FOUND: true,
	nvml.ERROR_INVALID_ARGUMENT:   true, nvml.ERROR_NO_PERMISSION: true, nvml.ERROR_INSUFFICIENT_SIZE: true,
	nvml.ERROR_ARGUMENT_VERSION_MISMATCH: true, nvml.ERROR_DEPRECATED: true,
}

func failureOf(code nvml.Return, doing string) error {
	if code == nvml.SUCCESS {
		return nil
	}
	return fmt.Errorf("%s: %s", doing,
		cmp.Or(codes[code], fmt.Sprintf("NVML error code %d; see nvmlReturn_t in the NVML reference", int(code))))
}
