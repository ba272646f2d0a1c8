package tables

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Cause holds everything that determines the outcome of a run. Two runs with the same cause have the same outcome. An
// empty field means unknown.
type Cause struct {
	Scenario string   `json:"scenario"` // digest of the scenario
	Network  string   `json:"network"`  // digest of the initial network with its weights
	Data     string   `json:"data"`     // digest of the dataset
	Options  string   `json:"options"`  // digest of the options that affect the outcome
	Profile  string   `json:"profile"`  // digest of the device profile, which determines times
	Code     string   `json:"code"`     // version of the code that affects the outcome
	Sequence []string `json:"sequence"` // actions of the sequence
	Seeds    []int64  `json:"seeds"`    // seeds of the runs
	// Ends reports whether the sequence has no further decision before the end of the budget. It distinguishes the run
	// from a run of the same actions in a scenario with more decisions, where another decision follows.
	Ends bool `json:"ends,omitempty"`
}

// Key returns the SHA-256 of the cause in hexadecimal, which identifies the outcome in a table.
func (c Cause) Key() string {
	text, err := json.Marshal(c)
	if err != nil { // texts and numbers cannot fail
		text = fmt.Appendf(nil, "%+v", c)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// checkKey rejects texts that are not a digest.
func checkKey(key string) error {
	if len(key) != 2*sha256.Size || strings.Trim(key, "0123456789abcdef") != "" {
		return fmt.Errorf("key %.100q is invalid; expected a SHA-256 as 64 lower-case hexadecimal digits", key)
	}
	return nil
}
