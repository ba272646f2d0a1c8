package telemetry

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// CUDAOrder returns the indices of a source's GPUs in the order in which CUDA numbers them, given the values of
// CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER. An empty string means that the variable is not set. By default CUDA
// starts with the fastest GPU, while NVML orders by PCI address. If a machine has different GPU models, CUDAOrder
// therefore returns an error, unless CUDA_DEVICE_ORDER is PCI_BUS_ID or the GPUs are given by UUID (CUDA C Programming
// Guide, CUDA environment variables).
func CUDAOrder(gpus []Device, visible, order string) ([]int, error) {
	sure := order == "PCI_BUS_ID" || sameModel(gpus)
	if visible == "" {
		if !sure {
			return nil, errOrder
		}
		visible = allOf(len(gpus))
	}
	var list []int
	for entry := range strings.SplitSeq(visible, ",") {
		entry = strings.TrimSpace(entry)
		index, err := strconv.Atoi(entry)
		switch {
		case strings.HasPrefix(entry, "MIG-"):
			return nil, errors.New("the energy of a single MIG instance cannot be measured")
		case err != nil:
			if index, err = byUUID(gpus, entry); err != nil {
				return nil, err
			}
		case !sure:
			return nil, errOrder
		case index < 0 || index >= len(gpus):
			return list, nil // CUDA ignores numbers after an invalid one
		}
		list = append(list, index)
	}
	return list, nil
}

var errOrder = errors.New("the machine has several GPU models; set CUDA_DEVICE_ORDER=PCI_BUS_ID, " +
	"or set CUDA_VISIBLE_DEVICES to GPU UUIDs")

func sameModel(gpus []Device) bool {
	for _, g := range gpus {
		if g.Name != gpus[0].Name || g.Name == "" && len(gpus) > 1 {
			return false
		}
	}
	return true
}

func allOf(n int) string {
	names := make([]string, n)
	for k := range names {
		names[k] = strconv.Itoa(k)
	}
	return strings.Join(names, ",")
}

// byUUID finds a GPU by the beginning of its UUID, which must be unique.
func byUUID(gpus []Device, start string) (int, error) {
	found := -1
	for _, g := range gpus {
		if start == "" || !strings.HasPrefix(g.UUID, start) {
			continue
		}
		if found >= 0 {
			return -1, fmt.Errorf("CUDA_VISIBLE_DEVICES: %.60q is a prefix of several UUIDs", start)
		}
		found = g.Index
	}
	if found < 0 {
		return -1, fmt.Errorf("CUDA_VISIBLE_DEVICES: NVML does not list GPU %.60q", start)
	}
	return found, nil
}
