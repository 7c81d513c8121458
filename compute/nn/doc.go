// Package nn builds small neural networks out of linear maps whose per-example
// gradients never have to be formed outside of core: layers with parameters hand out
// gradient.Trace, everything between them has none.
//
// One example is an image H×W×C in row-major order (all channels of a pixel
// together), a vector, or a text: its length and the numbers of its tokens (Tokens). A
// batch of n examples is n of them one after another; numbers are float32. Between
// layers a text is the rows of its steps, without what lies beyond its end. A Spec
// lists the layers, Compile checks it and returns a Net, which implements
// gradient.Network. Each layer is one short file.
//
// Nothing here clips, sums over examples or draws noise. What a layer computes for
// one example does not depend on the others of its batch, with one exception: batch
// normalization, which Net.PerExample names, so that core refuses to clip and trains
// such a net on public data only.
package nn
