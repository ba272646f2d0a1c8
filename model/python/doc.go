// Package python writes networks as modules of plain PyTorch. The modules print like the network and load its weights.
package python
