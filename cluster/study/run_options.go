package study

// RunOptions names the run folder.
type RunOptions struct {
	// Path of the run folder. Empty lets the command choose a path, such as runs/NAME for a file NAME.toml.
	Folder string `result:"none"`
}
