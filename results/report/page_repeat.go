package report

import (
	"fmt"
	"graft/results/document"
	"graft/results/page"
	"graft/results/runs"
	"regexp"
	"strings"
)

// repeatParts lists command, versions, seed and digests that reproduce a run.
func repeatParts(report *RunReport, r *runs.Run) []page.Part {
	parts := []page.Part{{Heading: "How to reproduce it"}}
	if len(report.Command) > 0 {
		words := make([]string, len(report.Command))
		for k, word := range report.Command {
			words[k] = shellWord(document.Printable(word))
		}
		parts = append(parts, page.Part{Code: strings.Join(words, " ")})
	}
	facts := []page.Fact{}
	know := func(name, text string, code bool) {
		if text != "" {
			facts = append(facts, page.Fact{Name: name, Text: document.Printable(text), Code: code})
		}
	}
	know("graft", report.Graft, false)
	if report.Seed != nil {
		know("seed", fmt.Sprint(*report.Seed), false)
	}
	know("device", report.where(), false)
	know("host", report.Host, false)
	know("configuration, SHA-256", report.Config, true)
	know("images, SHA-256", report.Data, true)
	know("folder", report.Path, true)
	parts = append(parts, page.Part{Facts: facts})
	if text := r.Configuration(); text != "" {
		parts = append(parts, page.Part{Folded: &page.Folded{Title: "Configuration, resolved", Text: text}})
	}
	return parts
}

// plainWord matches words that a shell takes without quotes.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

func shellWord(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
