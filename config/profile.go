package config

import (
	"cmp"
	"fmt"
	"strings"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/trainer/clock"
)

// FindProfile returns a device profile. If the text is a path, because it contains a slash or ends in .toml,
// FindProfile reads that file; otherwise the text is the name of a built-in profile.
func FindProfile(fsys files.FS, text string) (*clock.Profile, error) {
	if files.IsPath(text) {
		return ReadProfile(fsys, text)
	}
	return clock.FindProfile(text)
}

// ReadProfile reads a profile file. Callers must not change the profile, since they share it. The error wraps [Faults]
// if its content is invalid.
func ReadProfile(fsys files.FS, path string) (*clock.Profile, error) {
	text, err := decode.ReadAll(fsys, path, decode.LargestFile)
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	p, err := recentProfiles.find(path, text)
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	return p, nil
}

func parseProfile(path string, text []byte) (*clock.Profile, error) {
	p := &clock.Profile{}
	doc := decode.NewDocument(path, text)
	r, err := dialect.Read(doc, nil, p)
	if err == nil {
		r.Defaults()
		r.Validate()
		err = r.Finish()
	}
	if err != nil {
		return nil, cmp.Or(otherKind(doc, knowsKey(p)), err)
	}
	return p, nil
}

// WriteProfile atomically writes a profile file. ReadProfile restores the profile from the file.
func WriteProfile(fsys files.FS, path string, p *clock.Profile) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("write profile %s: the profile is invalid: %w", path, err)
	}
	return writeText(fsys, "profile", path, FormatProfile(p))
}

// FormatProfile returns the text of a profile file, without empty tables of operators and of processes.
func FormatProfile(p *clock.Profile) string {
	text := strings.Replace(dialect.Resolved(p), "processes = []\n", "", 1)
	if len(p.Operators.Measured) == 0 {
		text = withoutTable(text, "operators")
	}
	if len(p.GraftOperators.Operators) == 0 {
		text = withoutTable(text, "graft_operators")
	}
	if !p.Computed.On() {
		text = withoutTable(text, "computed")
	}
	return text
}

// withoutTable removes a table without tables inside from a text.
func withoutTable(text, name string) string {
	before, table, found := strings.Cut(text, "\n["+name+"]\n")
	if !found {
		return text
	}
	_, after, more := strings.Cut(table, "\n[")
	if !more {
		return before
	}
	return before + "\n[" + after
}

// relativesVersion must be raised when the charges for networks that were not measured change.
const relativesVersion = 2

// Versions of the times that operators predict: measured in a trace, measured in graft's own steps, and computed from
// hardware. Raise a version when these times change.
const (
	tracedVersion   = 1
	deviceVersion   = 3
	computedVersion = 1
)

// batchesVersion must be raised when operators scale measured times to other batch sizes in another way.
const batchesVersion = 1

// chargedText returns the text of a profile without values that change no result: its origin, the errors of its rates,
// the device's power, and unset keys that digests of earlier versions lack. Measurements correct the rates by a method
// that has a version.
func chargedText(p *clock.Profile) string {
	charged := *p
	charged.Made, charged.Fit, charged.Watts, charged.Computed.Checked = clock.Provenance{}, clock.Fit{}, 0, ""
	text := strings.NewReplacer("watts = 0.0\n", "", "instructions = \"\"\n", "", "exchange_seconds = 0.0\n", "",
		noRates("graph_step"), "", noRates("graph_batch"), "", `class = "", `, "", "graph = false, ", "",
		"steady = false\nprecision = \"\"\ndisturbed = 0\n", "steady = false\n", "format = 0\n", "",
		"channel_block = 0\n", "", ", padding8 = 0, padding16 = 0", "",
		", step_predicted_seconds = 0.0, batch_predicted_seconds = 0.0", "").Replace(FormatProfile(&charged))
	if p.HasOperators() && len(p.Measured) > 0 {
		text += fmt.Sprintf("batches = %d\n", batchesVersion)
	}
	switch {
	case len(p.GraftOperators.Operators) > 0:
		text += fmt.Sprintf("operators = %d\n", deviceVersion)
	case p.Computed.On():
		text += fmt.Sprintf("computed = %d\n", computedVersion)
	case p.HasOperators():
		text += fmt.Sprintf("operators = %d\n", tracedVersion)
	case len(p.Measured) > 0 && !p.Closed():
		text += fmt.Sprintf("relatives = %d\n", relativesVersion)
	}
	return text
}

// noRates returns the text of a cost table without any rates.
func noRates(table string) string {
	text := "[costs." + table + "]\n"
	for _, name := range clock.RateNames() {
		text += name + " = 0.0\n"
	}
	return text + "\n"
}
