package cli

import (
	"pawl/internal/cost"

	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"pawl/data/schema"
	"pawl/data/source"
	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/inference"
)

type miaFlags struct {
	model, data, schema, scores, attack, epsilon, delta, seed, rates, priors, out, index, release string
	shadows, records                                                                              int
	coins, force                                                                                  bool
}

func (a *app) auditMIA() *cobra.Command {
	var f miaFlags
	c := &cobra.Command{
		Use:   "mia (--model DIR --data DATA | --scores FILE)",
		Short: "Membership inference: try to tell who was in the training data",
		Long: `Measure by membership inference what a training run leaks about its rows.

With --model, the audit repeats the training of that model on its data: fair coins
decide which records its own target model is trained on, with the settings in the
model's statement, and shadow models are trained with the same settings on other draws.
Since members are known, the attack is a one-run audit, which can reject the claim. The
weights in DIR themselves are attacked only with --index (a list of their members), and
without shadow models.

With --scores, the attack was made elsewhere: a CSV with the columns score (larger for
members), member (1 or 0) and optionally class. --epsilon and --delta then state the
claim, and --coins declares that an independent fair coin decided on every record.

A weak attack proves nothing. An audit computes its figures from records without noise:
unless the data are public, they are internal and must not be published. --release E
charges for one figure that may be published: how often it is right to call a record a
member when the target answers it correctly, with noise of epsilon E. The training of
that target is charged with it.`,
		Example: `  pawl audit mia --model out --data location30 --attack lira --shadows 16 --json
  pawl audit mia --model out --data clinic.csv --schema clinic.yaml --release 0.1
  pawl audit mia --scores scores.csv --epsilon 1 --delta 1e-6`,
		Args: exactArgs(),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := checkAudit(f.out, f.force); err != nil {
				return err
			}
			switch {
			case f.scores != "" && (f.model != "" || f.data != ""):
				return &usageError{"--scores excludes --model and --data", "leave out --model and --data"}
			case f.scores != "" && f.release != "":
				return &usageError{"--release excludes --scores: outside scores have no known privacy cost", "use --model and --data"}
			case f.release != "" && (c.Flags().Changed("attack") || f.index != ""):
				return &usageError{"--release excludes --attack and --index: thresholds and shadow models computed from rows have no finite epsilon", "leave them out"}
			case f.scores != "":
				return a.miaScores(f)
			case f.model == "":
				return &usageError{"missing --model or --scores", "usage: " + c.UseLine()}
			case f.data == "":
				return &usageError{"missing --data", "give the data set that the model was trained on"}
			}
			return a.miaModel(c.Context(), f)
		},
	}
	var kinds []string
	for _, k := range inference.Kinds() {
		kinds = append(kinds, string(k))
	}
	s := c.Flags()
	s.StringVar(&f.model, "model", "", "output directory of pawl fit or pawl train, whose settings are used")
	s.StringVar(&f.data, "data", "", "data set that the model was trained on")
	s.StringVar(&f.schema, "schema", "", "schema file, YAML (built-in data sets have their own)")
	s.StringVar(&f.index, "index", "", "file with the row numbers of DATA, from 0, one per line, that the model was trained on: attack its weights by a threshold")
	s.StringVar(&f.scores, "scores", "", "CSV file of an outside attack: score, member and optionally class")
	s.StringVar(&f.attack, "attack", string(inference.LiRA), strings.Join(kinds, ", "))
	s.IntVar(&f.shadows, "shadows", 0, "number of shadow models (default: 16 for lira, 4 for rmia, 1 for svm and logistic)")
	s.IntVar(&f.records, "records", 0, "number of records to draw (default: all of a table, 10000 images)")
	s.StringVar(&f.epsilon, "epsilon", "", "claimed epsilon of --scores")
	s.StringVar(&f.delta, "delta", "", "claimed delta of --scores (default: 0)")
	s.BoolVar(&f.coins, "coins", false, "members of --scores were drawn by fair, independent coins, which allows a lower bound on epsilon")
	s.StringVar(&f.rates, "fpr", "0.001,0.01", "false positive rates to report")
	s.StringVar(&f.priors, "priors", "0.5", "shares of members among the records that an attacker sees")
	s.StringVar(&f.release, "release", "", "epsilon of the noise on one publishable figure, for sensitive data; its cost and that of the target are charged")
	s.StringVar(&f.out, "out", "", "directory for audit.json, audit.html and manifest.json")
	s.BoolVar(&f.force, "force", false, "replace the files of an earlier audit in --out")
	s.StringVar(&f.seed, "seed", "", "repeat an audit exactly; whoever knows the seed knows the members")
	return c
}

// miaAudit is what is printed.
type miaAudit struct {
	Attack string `json:"attack"`
	Model  string `json:"model,omitempty"`
	Data   string `json:"data"`
	// Internal says that the numbers must not leave: they were computed from records
	// without noise.
	Internal bool                 `json:"internal"`
	Claim    *bound.Claim         `json:"claim,omitempty"`
	Report   *attack.Report       `json:"report"`
	Classes  []attack.ClassReport `json:"by_class,omitempty"`
	OneRun   *inference.OneRun    `json:"one_run,omitempty"`
	Shadows  int                  `json:"shadow_models"`
	// Trained is the number of records that the target was trained on.
	Trained  int                 `json:"records_per_model,omitempty"`
	Pools    map[attack.Pool]int `json:"pools,omitempty"`
	Manifest string              `json:"manifest_sha256,omitempty"`
	Seed     *uint64             `json:"seed,omitempty"`
	Notes    []string            `json:"notes"`
}

func (m *miaAudit) convicted() bool { return m.OneRun != nil && m.OneRun.Convicted }

// parseShares reads a list of numbers strictly between 0 and 1.
func parseShares(flag, text string) ([]float64, error) {
	var out []float64
	for part := range strings.SplitSeq(text, ",") {
		x, err := cost.ParseReal(flag, strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if !(x > 0 && x < 1) {
			return nil, &usageError{fmt.Sprintf("--%s: %s is not between 0 and 1", flag, strings.TrimSpace(part)), ""}
		}
		out = append(out, x)
	}
	return out, nil
}

// options reads what both kinds of audit share.
func (f miaFlags) options() (o attack.Options, err error) {
	if o.Rates, err = parseShares("fpr", f.rates); err != nil {
		return o, err
	}
	o.Priors, err = parseShares("priors", f.priors)
	return o, err
}

func (a *app) miaScores(f miaFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	if f.coins && f.epsilon == "" {
		return &usageError{"--coins needs a claim", "add --epsilon and --delta"}
	}
	if f.delta != "" && f.epsilon == "" {
		return &usageError{"--delta needs --epsilon", ""}
	}
	if f.epsilon != "" {
		o.Claim = &bound.Claim{}
		if o.Claim.Epsilon, err = cost.ParseEpsilon(f.epsilon, true); err != nil {
			return err
		}
		if f.delta != "" {
			if o.Claim.Delta, err = cost.ParseDelta(f.delta, true); err != nil {
				return err
			}
		}
	}
	if err := source.CheckFile(f.scores); err != nil {
		return err
	}
	file, err := os.Open(f.scores)
	if err != nil {
		return err
	}
	defer file.Close()
	scored, err := attack.ReadScores(file)
	if err != nil {
		return attackError(f.scores, err)
	}
	out := &miaAudit{Attack: "outside scores", Data: f.scores, Internal: true, Claim: o.Claim, Notes: []string{}}
	if out.Report, err = attack.Evaluate(scored, o); err != nil {
		return attackError(f.scores, err)
	}
	if scored.Class != nil {
		if out.Classes, err = attack.ByClass(scored, o); err != nil {
			return attackError(f.scores, err)
		}
	}
	if f.coins {
		if out.OneRun, err = inference.Judge(scored, *o.Claim); err != nil {
			return attackError(f.scores, err)
		}
		if o.Claim.Delta > inference.Delta(len(scored.Score)) {
			out.Notes = append(out.Notes, fmt.Sprintf("with delta %s and %d records, a one-run audit can show little or nothing: state the claim at delta %s or less",
				cost.Full(o.Claim.Delta), len(scored.Score), figure(inference.Delta(len(scored.Score)))))
		}
	}
	return a.finishMIA(out, nil, f.out)
}

// attackError is a refusal of an attack in the words of the command line.
func attackError(what string, err error) error {
	msg := err.Error()
	for _, prefix := range []string{attack.ErrInput.Error() + ": ", inference.ErrInput.Error() + ": ", bound.ErrInput.Error() + ": "} {
		msg = strings.ReplaceAll(msg, prefix, "")
	}
	switch {
	case errors.Is(err, attack.ErrConstant):
		return &usageError{what + ": " + msg, "the attack does not distinguish any records: try another attack, or a model that is not constant"}
	case errors.Is(err, attack.ErrOverlap):
		return &usageError{what + ": " + msg, "each record must be in exactly one pool"}
	case errors.Is(err, attack.ErrInput), errors.Is(err, bound.ErrInput), errors.Is(err, inference.ErrInput):
		advice := "columns of --scores: score (larger for members), member (1 or 0) and optionally class (from 0)"
		if strings.Contains(msg, "shadow models") {
			advice = "use --shadows 16, or --attack rmia, which needs only two"
		} else if strings.Contains(msg, "records under attack") {
			advice = "use fewer --shadows or more --records"
		}
		return &usageError{what + ": " + msg, advice}
	}
	return err
}

// finishMIA writes the files, prints and convicts.
func (a *app) finishMIA(out *miaAudit, manifest *attack.Manifest, dir string) error {
	if dir != "" {
		if err := writeMIA(out, manifest, dir); err != nil {
			return err
		}
	}
	if out.Internal && out.Model != "" {
		fmt.Fprintf(a.err, "INTERNAL: data set %q is sensitive, and these figures were computed from its rows without noise and without charge: do not publish them\n", out.Data)
	}
	if !out.convicted() {
		return a.conclude(nil, "", out, func(w io.Writer) error { return a.printMIA(w, out) })
	}
	claim := out.OneRun.Claim
	convicted := &convictedError{fmt.Sprintf("epsilon is at least %s at delta %s (%s), the claim is %s", figure(out.OneRun.Sure.Epsilon), figure(claim.Delta),
		percent(bound.Conviction), figure(claim.Epsilon)), convictedAdvice}
	return a.conclude(convicted, out.headline(), out, func(w io.Writer) error { return a.printMIA(w, out) })
}

func (a *app) printMIA(to io.Writer, out *miaAudit) error {
	if err := miaNumbers(to, out); err != nil {
		return err
	}
	return a.notes(to, out.notes())
}

func (m *miaAudit) notes() []string { return slices.Concat(m.Report.Notes, m.Notes) }

func miaNumbers(to io.Writer, out *miaAudit) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	r := out.Report
	fmt.Fprintf(w, "attack\t%s on %s", out.Attack, out.Data)
	if out.Shadows > 0 {
		fmt.Fprintf(w, ", %d shadow models", out.Shadows)
	}
	fmt.Fprintln(w)
	if out.Model != "" {
		fmt.Fprintf(w, "settings\tfrom %s; the target was trained on %d records\n", out.Model, out.Trained)
	}
	if out.Claim != nil {
		fmt.Fprintf(w, "claim\tepsilon %s at delta %s\n", figure(out.Claim.Epsilon), cost.Full(out.Claim.Delta))
	}
	fmt.Fprintf(w, "records\t%d members, %d others\n", r.Members, r.NonMembers)
	fmt.Fprintf(w, "AUC\t%s\n", span(r.AUC))
	for _, s := range r.Success {
		fmt.Fprintf(w, "success\t%s with %s members (chance: %.3f", span(s.Rate), percent(s.Prior), s.Baseline)
		if out.Claim != nil {
			fmt.Fprintf(w, "; the claim allows %.3f", s.Ceiling)
		}
		fmt.Fprintln(w, ")")
	}
	for _, o := range r.AtRate {
		if o.Refusal != "" {
			fmt.Fprintf(w, "TPR at FPR %s\tnot reported: %s\n", percent(o.Asked), o.Refusal)
			continue
		}
		fmt.Fprintf(w, "TPR at FPR %s\t%s\n", percent(o.Asked), span(*o.TruePositives))
	}
	for _, c := range out.Classes {
		if c.Report == nil {
			fmt.Fprintf(w, "class %d\t%s\n", c.Class, c.Refusal)
			continue
		}
		fmt.Fprintf(w, "class %d\tAUC %s, %d records\n", c.Class, span(c.Report.AUC), c.Report.Members+c.Report.NonMembers)
	}
	if o := out.OneRun; o != nil {
		fmt.Fprintf(w, "lower bound\tepsilon is at least %s at delta %s (%s), where the claim is %s\n", figure(o.Shown.Epsilon), figure(o.Claim.Delta), percent(bound.Printed), figure(o.Claim.Epsilon))
		verdict := "not rejected"
		if o.Convicted {
			verdict = "REJECTED"
		}
		fmt.Fprintf(w, "verdict\t%s at %s\n", verdict, percent(bound.Conviction))
	}
	return w.Flush()
}

func span(i bound.Interval) string {
	return fmt.Sprintf("%.3f (%.3f to %.3f)", i.Estimate, i.Lower, i.Upper)
}

// headline is what stands above an audit that convicts.
func (m *miaAudit) headline() string {
	claim := m.OneRun.Claim
	return fmt.Sprintf("REJECTED at %s: the claim of epsilon %s at delta %s does not hold", percent(bound.Conviction), figure(claim.Epsilon), figure(claim.Delta))
}

// parseAttack reads --attack.
func parseAttack(name string) (inference.Kind, error) {
	kind := inference.Kind(strings.ReplaceAll(name, "_", "-"))
	if slices.Contains(inference.Kinds(), kind) {
		return kind, nil
	}
	var names []string
	for _, k := range inference.Kinds() {
		names = append(names, string(k))
	}
	advice := strings.Join(names, ", ")
	if near := schema.Nearest(name, names); near != "" {
		advice = fmt.Sprintf("did you mean %q? attacks: %s", near, advice)
	}
	return "", &usageError{fmt.Sprintf("unknown attack %s", strconv.Quote(name)), advice}
}
