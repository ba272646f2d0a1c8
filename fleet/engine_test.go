package fleet_test

import (
	"testing"
	"time"

	"graft/fleet"
	"graft/fleet/fleettest"
)

func init() { fleet.SetToy(fleettest.Main) }

func TestLocalConforms(t *testing.T) {
	fleettest.Run(t, fleettest.Harness{Engine: "local", Clock: fleet.NewClock(time.Now), Timeout: 10 * time.Minute})
}
