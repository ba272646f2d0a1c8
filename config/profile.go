package config

import (
	"cmp"
	"fmt"
	"strings"

	"graft/internal/decode"
	"graft/internal/files"
	"graft/trainer/clock"
)

// FindProfile reads the profile that a text names: a file where it looks like a path or
// ends in .toml, and a built-in one otherwise.
func FindProfile(fsys files.FS, text string) (*clock.Profile, error) {
	if files.IsPath(text) {
		return ReadProfile(fsys, text)
	}
	return clock.FindProfile(text)
}

// ReadProfile reads the file of a profile. The error wraps [Faults] where its content is
// wrong.
func ReadProfile(fsys files.FS, path string) (*clock.Profile, error) {
	text, err := decode.ReadAll(fsys, path, decode.LargestFile)
	if err != nil {
		return nil, fmt.Errorf("read profile: %w", err)
	}
	p, err := parseProfile(path, text)
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

// WriteProfile writes the file of a profile, from which ReadProfile makes the same.
// The file is replaced as a whole or not at all.
func WriteProfile(fsys files.FS, path string, p *clock.Profile) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("write profile %s: it could not be read again: %w", path, err)
	}
	return writeText(fsys, "profile", path, FormatProfile(p))
}

// FormatProfile is the text of a profile's file.
func FormatProfile(p *clock.Profile) string { return dialect.Resolved(p) }

// relativesVersion is raised with every change of how networks are charged that were not measured.
const relativesVersion = 2

// chargedText is the text of a profile without what changes no result: its origin, the errors
// of its rates, the power of the device, and what it lacks of keys that digests of earlier versions
// do not have. Measurements correct the rates, in a way that has a version.
func chargedText(p *clock.Profile) string {
	charged := *p
	charged.Made, charged.Fit, charged.Watts = clock.Provenance{}, clock.Fit{}, 0
	text := strings.NewReplacer("watts = 0.0\n", "", "exchange_seconds = 0.0\n", "", noRates("graph_step"),
		"", noRates("graph_batch"), "", `class = "", `, "", "graph = false, ", "", "channel_block = 0\n", "",
		", padding8 = 0, padding16 = 0", "").Replace(FormatProfile(&charged))
	if len(p.Measured) > 0 && !p.Closed() {
		text += fmt.Sprintf("relatives = %d\n", relativesVersion)
	}
	return text
}

// noRates is the text of a table of costs in which nothing has a rate.
func noRates(table string) string {
	text := "[costs." + table + "]\n"
	for _, name := range clock.RateNames() {
		text += name + " = 0.0\n"
	}
	return text + "\n"
}
