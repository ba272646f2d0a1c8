package torch

import (
	"fmt"
	"strings"
)

// ruleNames are the rules' names in files.
var ruleNames = map[Rule]string{SGD: "sgd", Adam: "adam", AdamW: "adamw"}

// RuleNames lists the names that UnmarshalText accepts.
func RuleNames() []string {
	var names []string
	for _, r := range []Rule{SGD, Adam, AdamW} {
		names = append(names, ruleNames[r])
	}
	return names
}

// String is the rule's name, none for the zero Rule.
func (r Rule) String() string {
	if name, ok := ruleNames[r]; ok {
		return name
	}
	if r == 0 {
		return "none"
	}
	return fmt.Sprintf("rule %d", int(r))
}

// MarshalText writes the rule's name, which is empty for the zero Rule.
func (r Rule) MarshalText() ([]byte, error) {
	name, ok := ruleNames[r]
	if !ok && r != 0 {
		return nil, fmt.Errorf("the rule %d has no name", int(r))
	}
	return []byte(name), nil
}

// UnmarshalText parses a rule's name; the empty name means the zero Rule.
func (r *Rule) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = 0
		return nil
	}
	for rule, name := range ruleNames {
		if name == string(text) {
			*r = rule
			return nil
		}
	}
	return fmt.Errorf("there is no rule %q; there are %s", text, strings.Join(RuleNames(), ", "))
}
