// Command gen writes the assembly of package kernel, and of bench/epoch, one part a run:
//
//	go run . -part gemm|copy|vector|layer|cipher|normals|peak -out FILE.s -stubs FILE.go -pkg kernel
//
// It is a module of its own so that users of pawl never download avo.
package main

import (
	"flag"
	"fmt"
	"os"

	. "github.com/mmcloughlin/avo/build"
)

var part = flag.String("part", "", "which file to write: gemm, copy, vector, layer, cipher, normals or peak")

func main() {
	flag.Parse()
	ConstraintExpr("amd64")
	switch *part {
	case "gemm":
		gemm()
	case "copy":
		copies()
	case "vector":
		vector()
	case "layer":
		layer()
	case "cipher":
		cipher()
	case "normals":
		normals()
	case "peak":
		peak()
	default:
		fmt.Fprintf(os.Stderr, "gen: unknown part %q: want gemm, copy, vector, layer, cipher, normals or peak\n", *part)
		os.Exit(2)
	}
	Generate()
}
