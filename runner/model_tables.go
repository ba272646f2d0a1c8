package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"graft/internal/words"
	"graft/report/document"
	"graft/runner/describe"
)

// printNetwork writes the network as PyTorch does, and three tables with totals.
func printNetwork(w io.Writer, r *describe.Network) error {
	p := &document.Printer{W: w}
	p.Line("%s", document.PrintableLines(r.Print))
	for _, section := range []struct {
		title string
		rows  *document.Table
	}{
		{"Layers, in the order in which they run", layerTable(*r)},
		{"Blocks, which surgery deepens and widens", blockTable(*r)},
		{"Channel spaces: channels that change together", spaceTable(*r)},
	} {
		p.Line("\n%s", section.title)
		p.Table(section.rows)
	}
	p.Line("\n%s", totalsText(*r))
	return p.Err
}

func layerTable(r describe.Network) *document.Table {
	t := document.NewTable("path", "layer").Numbers("", "", "output", "parameters", "flop", "memory").Texts("space").
		Numbers("", "", "block")
	for _, l := range r.Layers {
		block := document.Missing()
		if l.Block != nil {
			block = document.Value(float64(*l.Block), "")
		}
		t.Add(l.Path, l.Caption, l.Output, shortText(int64(l.Parameters)), shortText(l.FLOP),
			bytesText(l.ActivationBytes), spaceText(l.Spaces), block)
	}
	return t
}

func blockTable(r describe.Network) *document.Table {
	t := (&document.Table{}).Numbers("", "", "number").Texts("name", "origin", "layers")
	for _, b := range r.Blocks {
		t.Add(b.Number, b.Name, b.Origin, document.SomeOf(b.Kinds, 8))
	}
	return t
}

func spaceTable(r describe.Network) *document.Table {
	t := document.NewTable("space").Numbers("", "", "channels", "units").Texts("made by", "also changes",
		"can be widened")
	for k, s := range r.Spaces {
		units := document.Missing()
		if s.Units < s.Channels {
			units = document.Value(float64(s.Units), "")
		}
		makers := document.SomeOf(s.Makers, 3)
		if k == 0 {
			makers = "input"
		}
		also := slices.DeleteFunc(slices.Concat(s.Keepers, s.Users),
			func(path string) bool { return slices.Contains(s.Makers, path) })
		t.Add(s.ID, s.Channels, units, makers, document.SomeOf(also, 4), wideningText(s))
	}
	return t
}

// wideningText describes whether a space can be widened, and how or why not.
func wideningText(s describe.Space) string {
	switch {
	case len(s.Fixed) > 0:
		return "no: " + document.Printable(strings.Join(s.Fixed, ", and "))
	case s.Units < s.Channels:
		return fmt.Sprintf("yes, %s at a time", words.Plural(s.Channels/s.Units, "channel"))
	}
	return "yes"
}

func spaceText(parts []describe.Part) string {
	names := make([]string, len(parts))
	for k, part := range parts {
		names[k] = part.Space
	}
	return strings.Join(names, "+")
}

// bytesText formats a size with three digits and Ki, Mi or Gi for 2^10, 2^20 and 2^30.
func bytesText(n int64) string {
	value, unit := float64(n), "B"
	for _, next := range []string{"KiB", "MiB", "GiB", "TiB"} {
		if value < 1024 {
			break
		}
		value, unit = value/1024, next
	}
	return fmt.Sprintf("%.4g %s", value, unit)
}

func totalsText(r describe.Network) string {
	t := r.Totals
	var b strings.Builder
	fmt.Fprintf(&b, "From %v to %v in %s, %s and %s:\n", r.Input, r.Output, words.Plural(len(r.Layers), "layer"),
		words.Plural(len(r.Blocks), "block"), words.Plural(len(r.Spaces), "channel space"))
	fmt.Fprintf(&b, "  %s that the optimizer trains, and %s in buffers\n", words.Plural(t.Parameters, "parameter"),
		words.Plural(t.Buffers, "value"))
	fmt.Fprintf(&b, "  %d FLOP (floating-point operations) per example, forward; a multiply-add counts as two\n",
		t.FLOP)
	fmt.Fprintf(&b, "  %s of memory for all outputs of one example, as float32\n", bytesText(t.ActivationBytes))
	b.WriteString("k, M and G are 10^3, 10^6 and 10^9; KiB and MiB are 2^10 and 2^20 bytes; --json has exact numbers")
	return b.String()
}
