// Package net turns a point of a search space into a network and the numbers of its
// training. Package space knows no layers; this package knows what the names of
// dimensions mean.
//
// The space's key net: says what builds the network:
//
//   - fcn: layers hidden layers (num_layers) of units_1, units_2, … or units
//     (num_units_per_layer) and activation_1, … or activation (activation_fn), each
//     followed by dropout (0.2 unless given), and the outputs;
//   - cnn: a pool of 2×2, blocks convolutions of filters, 2·filters, … (5×5, then 3×3,
//     a pool before each but the first two), a dense layer of units, dropout (0.3
//     unless given), and the outputs (Bao, Bauer and Bindschaedler, Table XII);
//   - the name of a net of package zoo, whose activation, bound (of bounded_relu),
//     dropout (0 leaves it out) and train_last may vary.
//
// trainable_1, …, trainable_conv_1, …, trainable_dense and trainable_out freeze layers
// at their random weights. features (all, pool, dct, pca, scatter) with coefficients
// puts a front end before an fcn. What trains the network is read by Hyper.
package net
