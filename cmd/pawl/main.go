// Command pawl trains the best model that a privacy budget can buy and shows what
// it cost. See `pawl --help`.
package main

import "pawl/internal/cli"

func main() { cli.Main() }
