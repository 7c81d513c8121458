// Package export writes models for other programs: ONNX, with everything from the cells
// of a row or the pixels of an image to the answer inside, and safetensors, the numbers
// alone under the names of their layers.
//
// # What an ONNX file takes
//
// A model of a table has one input for each column that it uses, named like it and of
// shape [N, 1]: float for a number, where NaN says that it is missing, and string for
// a category or a boolean, spelled as in the data file. (Strings and not codes, since
// codes follow from the order in a schema, and who feeds a table has no schema.) Bounds,
// bins, missing values, undeclared categories and norms are part of the graph. Two
// things differ from pawl predict, which can refuse a file: a cell that the schema would
// refuse counts as unknown, and numbers have the 24 bits of a float, so that one of more
// than seven digits may fall on the other side of the edge of a bin.
//
// A network has one input: image [N, height, width, channels] in [0, 1], input [N, d] for
// a vector, or for texts tokens [N, length] with lengths [N], both int64.
//
// # What it answers
//
// A classifier has label [N] (string), probabilities [N, classes] in the order of the
// schema, and scores [N, outputs] before the sigmoid or softmax; a regression has
// prediction [N] in the units of the target. Where a column has one of these names, the
// output's is followed by "_".
//
// The operators are those of opset 17 and of version 3 of the domain ai.onnx.ml, of which
// only LabelEncoder is used. Where a division by a norm may be one by zero, numbers are
// doubles: the mean of a constant image has to be exact for the image to become zeros.
package export
