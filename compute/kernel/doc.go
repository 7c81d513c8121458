// Package kernel is the arithmetic of training: products of float32 matrices,
// convolution, pooling, elementwise functions and a key stream, in plain Go and in
// assembly that tools/gen writes.
//
// # What is promised
//
// A result depends on its inputs alone: not on the number of workers, not on
// how a batch was cut into calls (each row of a product is computed on its
// own), not on addresses or earlier calls. Work that sums over the batch is
// cut into a fixed number of parts, and the parts are added in order; see
// [Parallel].
//
// The kernel is chosen once, when the program starts: "avx512" (F, BW, DQ, VL),
// "avx2" (with FMA) or "portable"; [Name] tells which. Bits are equal across
// machines for one name. Elementwise functions and AddScaled have the same bits for
// every name; products have not, since the portable ones round each product before
// they add it. PAWL_KERNEL=avx512|avx2|portable forces a choice; a value that is
// unknown, or that the processor cannot run, panics at start.
//
// Every function may be called from many goroutines at once. Views and
// slices that do not fit panic with their shapes; values never cause a panic.
package kernel

//go:generate go -C ../../tools/gen run . -part gemm -out ../../compute/kernel/gemm_amd64.s -stubs ../../compute/kernel/gemm_amd64.go -pkg kernel
//go:generate go -C ../../tools/gen run . -part copy -out ../../compute/kernel/copy_amd64.s -stubs ../../compute/kernel/copy_amd64.go -pkg kernel
//go:generate go -C ../../tools/gen run . -part vector -out ../../compute/kernel/vector_amd64.s -stubs ../../compute/kernel/vector_amd64.go -pkg kernel
//go:generate go -C ../../tools/gen run . -part layer -out ../../compute/kernel/layer_amd64.s -stubs ../../compute/kernel/layer_amd64.go -pkg kernel
//go:generate go -C ../../tools/gen run . -part cipher -out ../../compute/kernel/cipher_amd64.s -stubs ../../compute/kernel/cipher_amd64.go -pkg kernel
//go:generate go -C ../../tools/gen run . -part normals -out ../../compute/kernel/normals_amd64.s -stubs ../../compute/kernel/normals_amd64.go -pkg kernel
