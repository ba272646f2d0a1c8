// Package onnx writes networks with their weights as ONNX models.
package onnx
