package telemetry

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCUDAOrder(t *testing.T) {
	alike := []Device{{UUID: "GPU-aa", Name: "A"}, {Index: 1, UUID: "GPU-ab", Name: "A"},
		{Index: 2, UUID: "GPU-b", Name: "A"}}
	mixed := []Device{{UUID: "GPU-aa", Name: "A"}, {Index: 1, UUID: "GPU-b", Name: "B"}}
	for name, test := range map[string]struct {
		gpus           []Device
		visible, order string
		want           []int
		fault          string
	}{
		"all of one model":                   {alike, "", "", []int{0, 1, 2}, ""},
		"some of one model":                  {alike, "2,0", "", []int{2, 0}, ""},
		"nothing behind an invalid number":   {alike, "1,7,0", "", []int{1}, ""},
		"UUIDs":                              {mixed, "GPU-b, GPU-a", "", []int{1, 0}, ""},
		"several models in the order of PCI": {mixed, "1", "PCI_BUS_ID", []int{1}, ""},
		"several models":                     {mixed, "1", "", nil, "set CUDA_DEVICE_ORDER=PCI_BUS_ID"},
		"several models, all":                {mixed, "", "FASTEST_FIRST", nil, "set CUDA_DEVICE_ORDER=PCI_BUS_ID"},
		"an ambiguous UUID":                  {alike, "GPU-a", "", nil, "several UUIDs"},
		"another machine's UUID":             {alike, "GPU-c", "", nil, `NVML does not list GPU "GPU-c"`},
		"an empty entry":                     {alike, "0,,1", "", nil, "NVML does not list GPU \"\""},
		"MIG": {alike, "MIG-aa", "", nil, "energy of a single MIG instance cannot " +
			"be measured"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := CUDAOrder(test.gpus, test.visible, test.order)
			require.Equal(t, test.want, got)
			if test.fault != "" {
				require.ErrorContains(t, err, test.fault)
			} else {
				require.NoError(t, err)
			}
		})
	}
}
