package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"graft/internal/stat"
	"graft/trainer/operators"
)

// printPredictionTimes prints the time of the first prediction of each grown network, for 100 operators. Before it, the
// predictor has only predicted the networks that the network grew from.
func (s *operatorStudy) printPredictionTimes(out io.Writer) error {
	times := map[string][]float64{} // microseconds for 100 operators
	var predictor *operators.Predictor
	for k := range s.Networks {
		m := &s.Networks[k]
		if len(m.Actions) == 0 {
			predictor = operators.NewDevicePredictor(s.Device)
		}
		began := time.Now()
		if _, err := predictor.Predict(m.network, "", m.Rows); err != nil {
			return err
		}
		took := time.Since(began)
		parts, err := predictor.Parts(m.network, m.Rows)
		if err != nil {
			return err
		}
		if len(m.Actions) > 0 {
			kind := "trees"
			if m.network.Graph != nil {
				kind = "graphs"
			}
			times[kind] = append(times[kind], 1e6*took.Seconds()/float64(len(parts)-1)*100)
		}
	}
	for _, kind := range []string{"trees", "graphs"} {
		all := slices.Sorted(slices.Values(times[kind]))
		if len(all) > 0 {
			fmt.Fprintf(out, "first prediction of %d grown %s: %.0f us per 100 operators in the median, one in ten "+
				"over %.0f us\n", len(all), kind, stat.Quantile(all, 0.5), stat.Quantile(all, 0.9))
		}
	}
	return nil
}
