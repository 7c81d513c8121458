package usage

import (
	"regexp"
	"strings"
)

// Texts of errors are made once and name flags of the command line. A program that uses the
// library sets fields: --noise-multiplier is NoiseMultiplier.

// fields are the names that do not follow from those of their flags.
var fields = map[string]string{
	"nats": "Broker.URL", "nats-key": "Broker.KeyFile", "nats-ca": "Broker.CAFile",
	"budget":           "WithGrant",
	"checkpoint-every": "Checkpoint.Every",
	"class-weight":     "ClassWeights",
	"cost":             "FalseNegative or FalsePositive",
	"ema":              "EMA",
	"force":            "replace of Into",
	"k":                "Count",
	"ledger":           "OpenLedger",
	"out":              "Into",
	"resume":           "Checkpoint.Resume",
}

var (
	flag = regexp.MustCompile(`--([a-z][a-z-]*)`)
	// A command line in a hint is for a shell, also in a program's hands.
	command = regexp.MustCompile(`\bpawl (account|advise|audit|calibrate|check|crossover|data|describe|explain|export|fit|init|ledger|models|plan|predict|reproduce|search|select|study|train|tune)\b[^;,()]*`)
)

// Field is the name in package pawl for a flag without its dashes.
func Field(flag string) string {
	if name, ok := fields[flag]; ok {
		return name
	}
	var b strings.Builder
	for word := range strings.SplitSeq(flag, "-") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return b.String()
}

// Fields is a line of an error with the names of fields in place of flags, outside of command
// lines.
func Fields(line string) string {
	var b strings.Builder
	end := 0
	words := func(text string) string {
		return flag.ReplaceAllStringFunc(text, func(f string) string { return Field(f[2:]) })
	}
	for _, at := range command.FindAllStringIndex(line, -1) {
		b.WriteString(words(line[end:at[0]]) + line[at[0]:at[1]])
		end = at[1]
	}
	return b.String() + words(line[end:])
}

// Given is flag where it was given, else "": cmp.Or of several is the first of them.
func Given(given bool, flag string) string {
	if given {
		return flag
	}
	return ""
}

// Words are the names of a kind, as a message lists them.
func Words[T ~string](all []T) []string {
	names := make([]string, len(all))
	for i, one := range all {
		names[i] = string(one)
	}
	return names
}
