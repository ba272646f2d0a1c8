package tables

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"graft/internal/files"
	"graft/internal/validate"
)

const (
	scenarioName = "scenario.json"
	// tableFormat is incremented when an older graft could no longer read a table.
	tableFormat = 1
	// largestScenario is in bytes.
	largestScenario = 1 << 20
	// Upper limits of a scenario, beyond which a value is a typing error.
	mostDecisions = 100
	mostActions   = 1000
)

// scenarioFile is scenario.json, and a part of the head of each file of records.
type scenarioFile struct {
	Format   int      `json:"format"`
	SHA256   string   `json:"sha256"` // digest of the scenario as compact JSON, in hexadecimal
	Scenario Scenario `json:"scenario"`
}

// Validate returns an error that lists every invalid value of a scenario.
func (s Scenario) Validate() error {
	var faults validate.Faults
	faults.When(!(s.Budget > 0) || math.IsInf(s.Budget, 0), "budget is %v s; must be above 0", s.Budget)
	faults.When(!(s.Start >= 0 && s.Start <= s.Budget), "start is %v s; must be between 0 and the budget", s.Start)
	faults.When(s.Decisions < 1 || s.Decisions > mostDecisions, "got %d decisions; expected 1 to %d", s.Decisions,
		mostDecisions)
	faults.When(len(s.Actions) > mostActions, "got %d actions, expected at most %d", len(s.Actions), mostActions)
	for _, text := range []string{s.Name, s.Network, s.Dataset} {
		faults.When(!Printable(text), "text %q contains unprintable characters", text)
	}
	for k, a := range s.Actions {
		faults.When(!isAction(a), "%q is not an action", a)
		faults.When(slices.Contains(s.Actions[:k], a), "duplicate action %s", a)
	}
	if len(faults) > 0 {
		return fmt.Errorf("scenario %s: %w", s.Name, errors.Join(faults...))
	}
	return nil
}

// Printable reports whether text can be stored as JSON and displayed unchanged.
func Printable(text string) bool {
	if strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0 {
		return true
	}
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// isAction reports whether a text can be an action in a sequence, whose separator is a comma.
func isAction(text string) bool {
	return text != "" && Printable(text) && !strings.Contains(text, ",")
}

// Digest returns the SHA-256 of the scenario in hexadecimal. Tables of the same scenario have the same digest.
func (s Scenario) Digest() string {
	text, err := json.Marshal(s)
	if err != nil { // a number is NaN or infinite; no table has such a scenario
		text = fmt.Appendf(nil, "%+v", s)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Content returns the scenario without its name and its choices, in a form that can be compared: two tables with the
// same content measure the same scenario, perhaps with other seeds. Content is empty if the scenario does not identify
// its network and its images, as in tables of the original system: such tables have only names.
func (s Scenario) Content() string {
	if s.Origin == nil || s.Origin.Data == "" {
		return ""
	}
	s.Name, s.Actions, s.Expected = "", nil, 0
	return s.Digest()
}

// Content returns the content of the table's scenario, and the device profile that charged time.
func (t *Table) Content() string {
	content := t.Scenario.Content()
	if content == "" || len(t.Records) == 0 {
		return content
	}
	return content + " " + t.Records[0].Profile
}

// formatScenario is the text of scenario.json.
func formatScenario(s Scenario) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(scenarioFile{Format: tableFormat, SHA256: s.Digest(), Scenario: s}, "", "  ")
	return append(text, '\n'), err
}

// parseScenario reads scenario.json. Defects are Faults without a file.
func parseScenario(text []byte) (Scenario, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	var version struct {
		Format int `json:"format"`
	}
	if err := d.Decode(&version); err != nil {
		return Scenario{}, NewFault(Damaged, "invalid JSON: %v", err)
	}
	if version.Format > tableFormat {
		return Scenario{}, futureFault(version.Format)
	}
	d = json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var f scenarioFile
	if err := d.Decode(&f); err != nil {
		return Scenario{}, NewFault(Damaged, "the JSON is not a scenario: %v", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Scenario{}, NewFault(Damaged, "extra data after the scenario")
	}
	return f.Scenario, f.check()
}

// check checks a scenario against its digest and its rules.
func (f scenarioFile) check() error {
	switch {
	case f.Format < 1:
		return NewFault(Damaged, "format is %d; must be at least 1", f.Format)
	case f.Format > tableFormat:
		return futureFault(f.Format)
	case f.SHA256 != f.Scenario.Digest():
		return NewFault(Damaged, "the scenario does not match its digest")
	}
	if err := f.Scenario.Validate(); err != nil {
		return NewFault(Damaged, "%v", err)
	}
	return nil
}

func futureFault(format int) error {
	return NewFault(Future, "format is %d, but this version of graft reads formats up to %d", format, tableFormat)
}

// readScenario reads scenario.json of a folder. Defects of a readable file are Faults.
func readScenario(fsys files.FS, dir string) (Scenario, error) {
	text, err := files.ReadAll(fsys, filepath.Join(dir, scenarioName), largestScenario)
	if err != nil {
		return Scenario{}, err
	}
	s, err := parseScenario(text)
	var f Fault
	if errors.As(err, &f) {
		err = f.of(scenarioName)
	}
	return s, err
}
