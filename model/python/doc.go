// Package python writes networks as modules of plain PyTorch, which have the same print as the network and load its
// weights.
package python
