package figure

import "math"

// stacked returns the figure with each bar starting at the end of the previous one, if bars are stacked. NaN counts as
// zero.
func (b *Bars) stacked() *Bars {
	if !b.Stacked {
		return b
	}
	all := *b
	all.Groups = nil
	for _, g := range b.Groups {
		sum := 0.0
		bars := make([]Bar, len(g.Bars))
		for k, bar := range g.Bars {
			bars[k] = Bar{from: sum, inner: k < len(g.Bars)-1}
			if !math.IsNaN(bar.Value) {
				sum += bar.Value
			}
			bars[k].Value = sum
		}
		all.Groups = append(all.Groups, Group{g.Name, bars})
	}
	return &all
}
