// Package reader reads ONNX models into graphs of package model/graph, whose operators are ATen's.
// It reads the messages of onnx.proto, of IR versions 3 and later; names and attributes of operators
// follow ONNX's operator schemas of opset 13 and later.
package reader
