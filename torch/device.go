package torch

import (
	"fmt"
	"strconv"
	"strings"
)

// Device identifies a device that can hold tensors. The zero Device is the CPU.
type Device struct {
	CUDA  bool
	Index int // index of the CUDA device, from 0; ignored on the CPU
}

// CPU is the host's processor; its tensors are in host memory.
var CPU = Device{}

// String formats the device so that ParseDevice can read it.
func (d Device) String() string {
	if !d.CUDA {
		return "cpu"
	}
	return "cuda:" + strconv.Itoa(d.Index)
}

func (d Device) code() (kind, index int32) {
	if d.CUDA {
		return 1, int32(d.Index)
	}
	return 0, 0
}

// ParseDevice parses "cpu", "cuda" or "cuda:N" and checks that the device exists. The empty
// string means the CPU.
func ParseDevice(name string) (Device, error) {
	d, err := parseDevice(name)
	if err != nil {
		return CPU, err
	}
	if !d.CUDA {
		return d, nil
	}
	runtime, err := Describe()
	if err != nil {
		return CPU, err
	}
	if d.Index >= runtime.CUDADevices {
		return CPU, &Error{Op: "choose device", Subject: name, kind: ErrDevice,
			Cause: fmt.Errorf("this machine has %s", available(runtime)), Remedy: "use one of these devices"}
	}
	return d, nil
}

func parseDevice(name string) (Device, error) {
	switch {
	case name == "" || name == "cpu":
		return CPU, nil
	case name == "cuda":
		return Device{CUDA: true}, nil
	}
	if digits, ok := strings.CutPrefix(name, "cuda:"); ok {
		if n, err := strconv.ParseUint(digits, 10, 7); err == nil {
			return Device{CUDA: true, Index: int(n)}, nil
		}
	}
	return CPU, &Error{Op: "choose device", Subject: strconv.Quote(name), kind: ErrDevice,
		Cause: fmt.Errorf("invalid device name"), Remedy: "use cpu or cuda:N"}
}

// Devices lists the devices of this machine, the CPU first.
func Devices() ([]Device, error) {
	runtime, err := Describe()
	if err != nil {
		return nil, err
	}
	return runtime.devices(), nil
}

func (r Runtime) devices() []Device {
	all := []Device{CPU}
	for k := range r.CUDADevices {
		all = append(all, Device{CUDA: true, Index: k})
	}
	return all
}

func available(r Runtime) string {
	if !r.CUDABuilt {
		return "only cpu, because this LibTorch is built without CUDA"
	}
	var names []string
	for _, d := range r.devices() {
		names = append(names, d.String())
	}
	return strings.Join(names, ", ")
}
