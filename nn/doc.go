// Package nn builds small neural networks out of linear maps whose per-example
// gradients never have to be formed: dense layers and convolutions hand out
// gradient.Trace, everything between them has no parameters.
//
// One example is an image H×W×C in row-major order (all channels of a pixel
// together) or a vector; a batch of n examples is n of them one after another;
// numbers are float32. A Spec lists the layers, Compile checks it and returns a
// Net, which implements gradient.Network. Each layer is one short file.
//
// Nothing here clips, sums over examples or draws noise. What a layer computes for
// one example does not depend on the others of its batch; a layer that mixes
// examples (batch normalization) is refused by name.
package nn
