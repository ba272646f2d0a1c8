package telemetry

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// reference is the folder of the reference data, next to the repository.
const reference = "../../../shared/reference/gpu-tasks/"

// Reading the reference file gives the reference's rows and figures, bit for bit.
func TestSMIEqualsTheReference(t *testing.T) {
	text, err := os.ReadFile(reference + "golden/gpu_usage_sample.json")
	if err != nil {
		t.Skip("left out: the reference data of GPU tasks is not beside the repository")
	}
	var golden struct {
		Rows []struct {
			Index     int
			Timestamp string
			Name      string
			GPU       Optional[float64] `json:"util_gpu"`
			Memory    Optional[float64] `json:"util_mem"`
			Power     Optional[float64] `json:"power_w"`
		}
		Devices map[string]struct {
			Samples int
			GPU     float64 `json:"mean_util_gpu"`
			Memory  float64 `json:"mean_util_mem"`
			Peak    float64 `json:"peak_power_w"`
			Mean    float64 `json:"mean_power_w"`
			Energy  float64 `json:"energy_j_trapezoid"`
			Span    float64 `json:"span_s"`
		} `json:"per_gpu"`
		Cut bool `json:"incomplete_last_row"`
	}
	require.NoError(t, json.Unmarshal(text, &golden))
	file, err := os.Open(reference + "tasks/gpu_usage_sample.csv")
	require.NoError(t, err)
	defer file.Close()
	log, err := ReadSMI(file, nil)
	require.NoError(t, err)
	require.Equal(t, golden.Cut, log.Cut)
	require.Len(t, log.Readings, len(golden.Rows))
	for k, r := range log.Readings {
		want := golden.Rows[k]
		require.Equal(t, want.Timestamp, time.UnixMicro(int64(r.At*1e6+0.5)).UTC().Format(smiTime))
		require.Equal(t, Reading{At: r.At, Device: want.Index, UtilizationPercent: want.GPU,
			MemoryUtilizationPercent: want.Memory, PowerWatts: want.Power}, r)
		require.Equal(t, want.Name, log.Devices[r.Device].Name)
	}
	for _, d := range log.Devices {
		m, want := MeasureAll(log.Of(d.Index), Use{}), golden.Devices[strconv.Itoa(d.Index)]
		require.Equal(t, Measurement{Energy: Energy{Joules: Known(want.Energy), Method: MethodIntegrated},
			Seconds: want.Span, Readings: want.Samples, MeanUtilizationPercent: Known(want.GPU),
			MeanMemoryUtilizationPercent: Known(want.Memory), MeanWatts: Known(want.Mean),
			PeakWatts: Known(want.Peak)}, m)
	}
}

// Columns are found by name, in any order, with or without units.
func TestSMIColumns(t *testing.T) {
	zone := time.FixedZone("", 2*3600)
	log, err := ReadSMI(strings.NewReader(
		`power.draw [W], name, pcie.link.gen.current, timestamp, uuid, index, memory.total [MiB], memory.used [MiB], memory.free [MiB], temperature.gpu, clocks.current.sm [MHz], clocks.current.memory [MHz], clocks_throttle_reasons.active
26.5 W, A, 3, 1970/01/01 02:00:01.250, GPU-a, 1, 8192 MiB, 1 MiB, 8191 MiB, 40, 1000 MHz, 715 MHz, 0x0000000000000004
[Unknown Error], A, 3, 1970/01/01 02:00:02.250, GPU-a, 1, 8192 MiB, [N/A], [Not Supported], ERR!, 1000, 715, [N/A]
`), zone)
	require.NoError(t, err)
	require.Equal(t, &SMILog{Devices: []Device{{Index: 1, UUID: "GPU-a", Name: "A", MemoryMiB: Known(8192.0)}},
		Readings: []Reading{
			{At: 1.25, Device: 1, PowerWatts: Known(26.5), MemoryUsedMiB: Known(1.0), MemoryFreeMiB: Known(8191.0),
				TemperatureCelsius: Known(40.0), SMClockMHz: Known(1000.0), MemoryClockMHz: Known(715.0),
				Throttle: Known(ThrottlePowerCap)},
			{At: 2.25, Device: 1, SMClockMHz: Known(1000.0), MemoryClockMHz: Known(715.0)}}}, log)
}

func TestSMIFaults(t *testing.T) {
	const head, row = "index, timestamp, power.draw [W]\n", "0, 2024/12/06 17:12:01.125, 26.87 W\n"
	for name, test := range map[string]struct{ text, fault string }{
		"an empty file":  {"", "the header line is missing"},
		"no timestamp":   {"index, name\n", `column "timestamp" is missing`},
		"a column twice": {"index, timestamp, index\n", `duplicate column "index"`},
		"a row with a cell less": {head + "0, 2024/12/06 17:12:01.125\n" + row,
			"line 2: expected 3 values, got 2"},
		"a number that is none": {head + "0, 2024/12/06 17:12:01.125, much\n" + row,
			`line 2: expected a number, with or without unit "W", got "much"`},
		"another unit": {head + "0, 2024/12/06 17:12:01.125, 5 mW\n" + row,
			`line 2: expected a number, with or without unit "W", got "5 mW"`},
		"an index below zero":   {head + "-1, 2024/12/06 17:12:01.125, 5 W\n" + row, "line 2: index is -1"},
		"a date that is none":   {head + "0, 2024/13/06 17:12:01.125, 5 W\n" + row, "month out of range"},
		"a line without an end": {head + strings.Repeat("0", longestSMILine+1), "line 2: "},
		"a power below zero": {head + row + "0, 2024/12/06 17:12:02.125, -5 W\n",
			`line 3: got "-5 W"; expected at least 0 W; remove the row`},
		"a share below zero": {"index, timestamp, utilization.gpu [%]\n0, 2024/12/06 17:12:01.125, -50 %\n",
			`line 2: got "-50 %"; expected 0 to 100 %`},
		"a share above 100": {"index, timestamp, utilization.gpu\n0, 2024/12/06 17:12:01.125, 101\n",
			"line 2: got \"101\""},
		"a memory below zero": {"index, timestamp, memory.used [MiB]\n0, 2024/12/06 17:12:01.125, -1 MiB\n",
			"expected at least 0 MiB"},
		"a time that goes back": {head + row + "1, 2024/12/06 17:12:00.125, 5 W\n0, 2024/12/06 17:12:01.124, 5 W\n",
			"line 4: the timestamp is earlier than in the previous row of GPU 0; sort the rows by time"},
		"the last row is cut":     {head + row + "0, 2024/12", ""},
		"the last row is damaged": {head + row + "0, 2024/12\n", ""},
		"the last number is cut":  {head + row + "0, 2024/12/06 17:12:01.125, 2", ""},
	} {
		t.Run(name, func(t *testing.T) {
			log, err := ReadSMI(strings.NewReader(test.text), nil)
			if test.fault != "" {
				require.ErrorContains(t, err, test.fault)
				require.ErrorContains(t, err, "read nvidia-smi: ")
				return
			}
			require.NoError(t, err)
			require.True(t, log.Cut)
			require.Len(t, log.Readings, 1)
		})
	}
}

func FuzzReadSMI(f *testing.F) {
	f.Add([]byte("index, timestamp, power.draw [W]\n0, 2024/12/06 17:12:01.125, 26.87 W\n" +
		"0, 2024/12/06 17:12:01.125, [N/A]\n0, 20"))
	f.Add([]byte("uuid, index, timestamp, clocks_throttle_reasons.active\r\n" +
		"GPU-a, 3, 2024/12/06 17:12:01.125, 0x4\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		log, err := ReadSMI(bytes.NewReader(text), nil)
		if err != nil {
			return
		}
		for _, d := range log.Devices {
			m := MeasureAll(log.Of(d.Index), Use{IdleWatts: Known(1.0)})
			_, known := m.Joules.Get()
			if known == (m.Method == MethodUnknown) {
				t.Fatalf("%+v", m)
			}
			if _, err := json.Marshal(m); err != nil {
				t.Fatal(err)
			}
		}
	})
}
