// Package onnx writes graphs of the format ONNX, opset 17: nodes one after another, each
// of which computes values from those before it. It knows no model; layers and tables
// write themselves with it. There is no dependency behind it, since the generated code of
// all ONNX messages and its runtime are a hundred times as long.
package onnx
