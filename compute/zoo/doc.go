// Package zoo holds networks as data: the published ones by name, and the reader
// for a person's own file in the same form. A Spec says what is built; nn builds
// it.
//
// The published nets stand as their tables have them, with one liberty: an
// activation follows max pooling instead of preceding it, which for increasing
// functions is the same net and a fourth of the work. Spec.Default is the form that
// trained best under privacy.
package zoo
