package telemetry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Throttle is a set of reasons for a reduced clock: the bits of NVML's nvmlClocksEventReasons (nvml.h). Zero means a
// clock that is not reduced.
type Throttle uint64

// Reasons, as NVML numbers them.
const (
	ThrottleIdle          Throttle = 1 << iota // nothing runs
	ThrottleClockSetting                       // application clocks are set
	ThrottlePowerCap                           // the power limit is reached
	ThrottleSlowdown                           // the hardware slows down: heat, or power brake
	ThrottleSyncBoost                          // another GPU of the group is slower
	ThrottleThermal                            // software: temperature above the limit
	ThrottleThermalDevice                      // hardware: temperature too high
	ThrottlePowerBrake                         // the power supply requests it
	ThrottleDisplay                            // setting of a display
)

var throttleWords = []string{"idle", "clock setting", "power cap", "hardware slowdown", "sync boost",
	"software thermal", "hardware thermal", "power brake", "display setting"}

// Words lists the reasons, in the order of their bits; none for zero. A bit without a name is formatted in hexadecimal.
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

// String joins the words with plus signs; "none" for zero.
func (t Throttle) String() string {
	if t == 0 {
		return "none"
	}
	return strings.Join(t.Words(), "+")
}

// MarshalJSON writes the list of words.
func (t Throttle) MarshalJSON() ([]byte, error) { return json.Marshal(t.Words()) }

// UnmarshalJSON reads the list of words.
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
