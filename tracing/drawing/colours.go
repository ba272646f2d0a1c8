package drawing

import (
	"fmt"
	"image/color"
	"slices"
	"strings"

	"graft/internal/svg"
	"graft/tracing"
)

// colours is the palette without yellow, which is invisible on the light background.
var colours = []color.RGBA{svg.Blue, svg.Orange, svg.Green, svg.Purple, svg.Sky, svg.Vermilion}

// paintSpaces colours the graph of spaces greedily: neighbouring spaces get different colours, as far as there are
// enough colours. Spaces with the most neighbours choose first.
func paintSpaces(spaces []*tracing.Space) map[*tracing.Space]int {
	beside := neighbours(spaces)
	chosen := map[*tracing.Space]int{}
	order := slices.Clone(spaces)
	slices.SortStableFunc(order, func(a, b *tracing.Space) int { return len(beside[b]) - len(beside[a]) })
	for _, s := range order {
		taken := map[int]bool{}
		for _, other := range beside[s] {
			if colour, ok := chosen[other]; ok {
				taken[colour] = true
			}
		}
		chosen[s] = s.Index % len(colours)
		for step := 0; taken[chosen[s]] && step < len(colours); step++ {
			chosen[s] = (chosen[s] + 1) % len(colours)
		}
	}
	return chosen
}

// neighbours returns, for each space, the spaces on the other side of its layers.
func neighbours(spaces []*tracing.Space) map[*tracing.Space][]*tracing.Space {
	beside := map[*tracing.Space][]*tracing.Space{}
	for _, s := range spaces {
		for _, l := range s.Makers {
			for _, part := range l.In.Parts {
				beside[s] = append(beside[s], part.Space)
				beside[part.Space] = append(beside[part.Space], s)
			}
		}
	}
	return beside
}

// light and dark are the two sets of colours, by class.
const light = `svg{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,"DejaVu Sans",sans-serif}
.paper{fill:#fff}
text{fill:#1f2328}
.head{font-weight:600}
.quiet{fill:#59636e}
.layer,.end,.join{fill:#f6f8fa;stroke:#c4ccd4}
.opens{fill:#fff;stroke:#59636e;stroke-width:1.5}
.end{fill:#eaeef2}
.frame{fill:#818b98;fill-opacity:.08;stroke:#59636e;stroke-width:1.5}
.grown{stroke-dasharray:9 5}
.found{stroke-dasharray:.1 5;stroke-linecap:round;stroke-width:2}
.edge,.plus{fill:none;stroke:#1f2328;stroke-width:1.2}
.arrow{fill:#1f2328}
.circle{fill:#fff;stroke:#1f2328;stroke-width:1.5}
.ribbon{fill:none;stroke-width:6}
`

const dark = `.paper{fill:#0d1117}
text{fill:#e6edf3}
.quiet{fill:#9da7b3}
.layer,.join{fill:#161b22;stroke:#3d444d}
.opens{fill:#1c2129;stroke:#9198a1}
.end{fill:#262c36;stroke:#3d444d}
.frame{stroke:#9198a1}
.edge,.plus{stroke:#e6edf3}
.arrow{fill:#e6edf3}
.circle{fill:#0d1117;stroke:#e6edf3}
`

// style is the sheet of all classes.
func style() string {
	var b strings.Builder
	b.WriteString(light)
	for k, colour := range colours {
		fmt.Fprintf(&b, ".c%d{stroke:%s}\n", k, svg.Hex(colour))
	}
	b.WriteString("@media (prefers-color-scheme:dark){\n" + dark + "}\n")
	return b.String()
}
