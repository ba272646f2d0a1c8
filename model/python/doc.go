// Package python writes networks as modules of plain PyTorch, which print as the network
// prints and load its weights.
package python
