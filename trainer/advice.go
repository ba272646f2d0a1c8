package trainer

import (
	"fmt"

	"graft/internal/words"
)

// fewEpochs is the number of epochs below which growing lost accuracy in every setting of the growth study.
const fewEpochs = 3

// GrowthAdvice returns a warning for a job that grows its network and trains for only a few epochs. It is empty for
// other numbers of epochs. The evidence is in docs/study.md.
func GrowthAdvice(epochs int) string {
	if epochs >= fewEpochs {
		return ""
	}
	return fmt.Sprintf("growing in a training of %s rarely pays: in the growth study, it lost accuracy in all "+
		"settings with fewer than %d epochs; compare with the network that does not grow, by 'graft compare'",
		words.Plural(epochs, "complete epoch"), fewEpochs)
}
