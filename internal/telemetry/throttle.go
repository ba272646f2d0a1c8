package telemetry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Throttle is a set of reasons why the clock of a GPU is reduced. Its bits are NVML's nvmlClocksEventReasons (nvml.h).
// Zero means that the clock is not reduced.
type Throttle uint64

// The reasons, with NVML's numbers.
const (
	ThrottleIdle         Throttle = 1 << iota // the GPU is idle
	ThrottleClockSetting                      // application clocks are set
	ThrottlePowerCap                          // the power limit is reached
	ThrottleSlowdown                          // the hardware reduces the clock, because of heat or the power brake
	ThrottleSyncBoost                         // another GPU of the same sync boost group is slower
	// the driver reduces the clock, because the temperature is above its limit
	ThrottleThermal
	ThrottleThermalDevice // the hardware reduces the clock, because the temperature is too high
	ThrottlePowerBrake    // the power supply requests a lower clock
	ThrottleDisplay       // the setting of a display limits the clock
)

var throttleWords = []string{"idle", "clock setting", "power cap", "hardware slowdown", "sync boost",
	"software thermal", "hardware thermal", "power brake", "display setting"}

// Words lists the reasons in the order of their bits. For zero, the list is empty. A bit without a name is formatted in
// hexadecimal.
func (t Throttle) Words() []string {
	words := []string{}
	for k, word := range throttleWords {
		if t&(1<<k) != 0 {
			words = append(words, word)
		}
	}
	if rest := t &^ (1<<len(throttleWords) - 1); rest != 0 {
		words = append(words, fmt.Sprintf("%#x", uint64(rest)))
	}
	return words
}

// String joins the reasons with plus signs. Zero is formatted as "none".
func (t Throttle) String() string {
	if t == 0 {
		return "none"
	}
	return strings.Join(t.Words(), "+")
}

// MarshalJSON writes the list that Words returns.
func (t Throttle) MarshalJSON() ([]byte, error) { return json.Marshal(t.Words()) }

// UnmarshalJSON reads the list that Words returns.
func (t *Throttle) UnmarshalJSON(text []byte) error {
	var words []string
	if err := json.Unmarshal(text, &words); err != nil {
		return err
	}
	*t = 0
	for _, word := range words {
		k := slices.Index(throttleWords, word)
		rest, err := strconv.ParseUint(word, 0, 64)
		if k >= 0 {
			rest, err = 1<<k, nil
		}
		if err != nil {
			return fmt.Errorf("read throttle reasons: unknown reason %.40q", word)
		}
		*t |= Throttle(rest)
	}
	return nil
}
