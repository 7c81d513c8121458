// Package space is the set of candidates that a search may choose from: lists and
// ranges of values for features, architecture and hyperparameters together, with
// conditions under which a choice exists at all and constraints between choices.
// It draws, changes, crosses and lists candidates. It knows neither privacy nor
// data, and everything here is a function of a file and of a random source.
//
// A Space is read from YAML (Decode, Load; docs/SPACES.md is the manual) or comes
// with the program (Lookup). A Point is one candidate. It has a value for every
// dimension that is active and none for the others, so that two points are equal
// exactly when they mean the same: a net of one layer has no third width. Draw is
// uniform over those points. Uniform choices of every raw gene would be another law:
// of the 4,860 raw choices of the fcn space 108 mean the same for each net of one
// layer and 1 for a net of three, so that a third of the draws would be the 15
// smallest nets.
//
// # How the counting goes
//
// Dimensions that conditions or constraints tie together form a component; unrelated
// components are drawn apart. Within one, the values of each dimension fall into
// classes that no condition tells apart, and a structure is a choice of classes: it
// fixes which dimensions are active. The points of a structure are a product, so
// they are counted exactly, a structure is drawn in proportion to its points and
// then each gene uniformly. A component with constraints is listed once and drawn
// from the list where it has at most ListLimit points; otherwise points are drawn
// until one satisfies the constraints, at most DrawTries times.
//
// A continuous range counts as one choice: its value is uniform on its scale, given
// the finite choices.
package space
