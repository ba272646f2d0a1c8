package estimate_test

import (
	"context"
	"fmt"

	"graft/cluster/estimate"
)

// A model of job durations is learned, predicts a job and explains the prediction.
func ExampleFit() {
	var devices, minutes []float64
	var users []string
	for job := range 400 {
		n, user := 1+job%4, []string{"ada", "bob"}[job/4%2]
		devices, users = append(devices, float64(n)), append(users, user)
		minutes = append(minutes, float64(10*n)+map[string]float64{"ada": 20, "bob": 60}[user])
	}
	table := new(estimate.Table)
	table.AddNumbers("devices", devices)
	table.AddTexts("user", users)
	table.SetTarget(minutes)

	model, err := estimate.Fit(context.Background(), table, estimate.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	job := []estimate.Value{{Number: 4}, {Text: "bob"}}
	expected, _ := model.Predict(job)
	fmt.Printf("expected %.0f minutes: %.0f on average\n", expected, model.Base())
	why, _ := model.Explain(job)
	for _, part := range why[:2] {
		fmt.Printf("%+.0f for %s\n", part.Value, part.Name)
	}
	shape, _ := model.Shape(0)
	for k, bin := range shape.Axes[0].Bins[1:] {
		fmt.Printf("%s %v: %+.0f\n", shape.Term.Name, bin, shape.Cells[k+1].Value)
	}
	// Output:
	// expected 100 minutes: 65 on average
	// +20 for user
	// +15 for devices
	// devices 1 to 1.5: -15
	// devices 1.5 to 2.5: -5
	// devices 2.5 to 3.5: +5
	// devices 3.5 to 4: +15
}
