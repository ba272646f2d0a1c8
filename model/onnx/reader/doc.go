// Package reader reads ONNX models into graphs of package model/graph, whose operators are ATen's. It reads the
// messages of onnx.proto, from IR version 3 on; names and attributes of operators follow ONNX's operator schemas from
// opset 13 on.
package reader
