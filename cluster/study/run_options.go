package study

// RunOptions names the run folder.
type RunOptions struct {
	Folder string `result:"none"` // Path of the run folder. Empty lets the command choose one.
}
