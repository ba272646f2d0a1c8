package telemetry_test

import (
	"fmt"
	"strings"

	"graft/internal/telemetry"
)

// The energy of a job follows from a file of nvidia-smi and the job's times.
func ExampleMeasure() {
	log, err := telemetry.ReadSMI(strings.NewReader(`index, timestamp, power.draw [W]
0, 1970/01/01 00:00:01.000, 50 W
0, 1970/01/01 00:00:02.000, 150 W
0, 1970/01/01 00:00:03.000, [N/A]
0, 1970/01/01 00:00:04.000, 150 W
0, 1970/01/01 00:00:0`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	m := telemetry.Measure(log.Of(0), 1, 4, telemetry.Use{IdleWatts: telemetry.Known(50.0)})
	joules, _ := m.Joules.Get()
	net, _ := m.NetJoules.Get()
	fmt.Printf("%.0f J, %.0f J above idle, %s; last row cut: %t\n", joules, net, m.MethodText(), log.Cut)
	// Output: 400 J, 250 J above idle, integrated; last row cut: true
}
