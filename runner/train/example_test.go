package train_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"go.uber.org/zap"

	"graft/internal/files"
	"graft/runner/app"
	"graft/runner/train"
)

// The example runs the demo's job, with a shorter budget and fewer images.
func ExampleRun() {
	folder, err := os.MkdirTemp("", "graft-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	env := &app.Env{Files: files.OS{}, Now: time.Now, Random: rand.Reader, Log: zap.NewNop()}
	o := train.Options{Folder: filepath.Join(folder, "run"), Set: append(train.Demo(), "time.budget=1s",
		`time.events=[{at = "300ms", change = "up"}, {at = "700ms", change = "down"}]`, "data.synthetic.train=300",
		"data.synthetic.test=100", "run.threads=1")}
	result, err := train.Run(context.Background(), env, "", o)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d decisions, a digest of %d digits\n", result.Outcome.Decisions, len(result.Outcome.Digest))
	// Output: 2 decisions, a digest of 64 digits
}
