package cli

import (
	"context"

	"pawl/internal/cost"

	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"pawl/data/schema"
	"pawl/data/table"
	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/campaign"
	"pawl/evidence/audit/inference"
	"pawl/evidence/audit/membership"
	"pawl/internal/usage"
)

type miaFlags struct {
	model, data, schema, scores, attack, epsilon, delta, seed, rates, priors, out, index, release string
	shadows, records                                                                              int
	coins, force                                                                                  bool
}

func auditMIA(a *app) *cobra.Command {
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
				return mistake("--scores excludes --model and --data", "leave out --model and --data")
			case f.scores != "" && f.release != "":
				return mistake("--release excludes --scores: scores of another program have no known privacy cost", "use --model and --data")
			case f.release != "" && (c.Flags().Changed("attack") || f.index != ""):
				return mistake("--release excludes --attack and --index: thresholds and shadow models computed from rows have no finite epsilon", "leave them out")
			case f.scores != "":
				return miaScores(a, f)
			case f.model == "":
				return mistake("missing --model or --scores", "usage: "+c.UseLine())
			case f.data == "":
				return mistake("missing --data", "give the data set that the model was trained on")
			}
			return miaModel(c.Context(), a, f)
		},
	}
	s := c.Flags()
	s.StringVar(&f.model, "model", "", "output directory of pawl fit or pawl train, whose settings are used")
	s.StringVar(&f.data, "data", "", "data set that the model was trained on")
	schemaFlag(s, &f.schema)
	s.StringVar(&f.index, "index", "", "file with the row numbers of DATA, from 0, one per line, that the model was trained on: attack its weights by a threshold")
	s.StringVar(&f.scores, "scores", "", "CSV file of an attack made elsewhere: score, member and optionally class")
	s.StringVar(&f.attack, "attack", string(inference.LiRA), strings.Join(usage.Words(inference.Kinds()), ", "))
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

// parseShares reads a list of numbers strictly between 0 and 1.
func parseShares(flag, text string) ([]float64, error) {
	var out []float64
	for part := range strings.SplitSeq(text, ",") {
		x, err := cost.ParseReal(flag, strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		if !(x > 0 && x < 1) {
			return nil, mistakef("", "--%s: %s is not between 0 and 1", flag, strings.TrimSpace(part))
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

func miaScores(a *app, f miaFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	if f.coins && f.epsilon == "" {
		return mistake("--coins needs a claim", "add --epsilon and --delta")
	}
	if f.delta != "" && f.epsilon == "" {
		return mistake("--delta needs --epsilon", "")
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
	if err := table.CheckFile(f.scores); err != nil {
		return err
	}
	file, err := os.Open(f.scores)
	if err != nil {
		return err
	}
	defer file.Close()
	scored, err := attack.ReadScores(file)
	if err != nil {
		return membership.Refusal(f.scores, err)
	}
	out := &membership.Audit{Attack: "outside scores", Data: f.scores, Internal: true, Claim: o.Claim, Notes: []string{}}
	if out.Report, err = attack.Evaluate(scored, o); err != nil {
		return membership.Refusal(f.scores, err)
	}
	if scored.Class != nil {
		if out.Classes, err = attack.ByClass(scored, o); err != nil {
			return membership.Refusal(f.scores, err)
		}
	}
	if f.coins {
		if out.OneRun, err = inference.Judge(scored, *o.Claim); err != nil {
			return membership.Refusal(f.scores, err)
		}
		if o.Claim.Delta > inference.Delta(len(scored.Score)) {
			out.Notes = append(out.Notes, fmt.Sprintf("with delta %s and %d records, a one-run audit can show little or nothing: state the claim at delta %s or less",
				cost.Full(o.Claim.Delta), len(scored.Score), bound.Figure(inference.Delta(len(scored.Score)))))
		}
	}
	return finishMIA(a, out, nil, f.out)
}

// finishMIA writes the files, prints and convicts.
func finishMIA(a *app, out *membership.Audit, manifest *attack.Manifest, dir string) error {
	if dir != "" {
		if err := writeMIA(out, manifest, dir); err != nil {
			return err
		}
	}
	if out.Internal && out.Model != "" {
		fmt.Fprintf(a.err, "INTERNAL: data set %q is sensitive, and these figures were computed from its rows without noise and without charge: do not publish them\n", out.Data)
	}
	why, headline := "", ""
	if out.Convicted() {
		one := out.OneRun
		headline = out.Headline()
		why = fmt.Sprintf("epsilon is at least %s at delta %s (%s), the claim is %s", bound.Figure(one.Sure.Epsilon), bound.Figure(one.Claim.Delta), bound.Percent(bound.Conviction), bound.Figure(one.Claim.Epsilon))
	}
	return concludeAudit(a, why, headline, out, out.WriteText)
}

func miaModel(ctx context.Context, a *app, f miaFlags) error {
	o, err := f.options()
	if err != nil {
		return err
	}
	kind, err := parseAttack(f.attack)
	if err != nil {
		return err
	}
	if f.epsilon != "" || f.delta != "" || f.coins {
		return mistake("--epsilon, --delta and --coins need --scores", "with --model, the claim comes from the model's statement")
	}
	if f.shadows < 0 || f.shadows > 1024 || f.records < 0 {
		return mistake("--shadows must be between 1 and 1024, and --records at least 1", "")
	}
	src, seed, err := campaign.Source(f.seed)
	if err != nil {
		return err
	}
	l, err := a.openLedger(ctx)
	if err != nil {
		return err
	}
	bar := newProgress(a.err, 0)
	r, err := membership.Open(ctx, membership.Options{Model: f.model, Data: f.data, Schema: f.schema, Index: f.index, DataDir: a.dataDir, Attack: kind,
		Shadows: f.shadows, Records: f.records, Rates: o.Rates, Priors: o.Priors, Source: src, Seed: seed, Ledger: l, Progress: bar.step})
	if err != nil {
		return err
	}
	if f.release != "" && !r.Public() {
		out, err := r.Release(ctx, f.release, campaign.Proves)
		if err != nil {
			return err
		}
		// The number is paid for, and shown even where its file cannot be written.
		var failed error
		if f.out != "" {
			failed = writeAudit(f.out, out, f.force)
		}
		return errors.Join(failed, a.show(out))
	}
	out, manifest, err := r.Attack(ctx)
	bar.done()
	if err != nil {
		return err
	}
	if f.release != "" {
		out.Notes = append(out.Notes, "the data are public: the results may be published as they are, and --release charged nothing")
	}
	return finishMIA(a, out, manifest, f.out)
}

// parseAttack reads --attack.
func parseAttack(name string) (inference.Kind, error) {
	kind := inference.Kind(strings.ReplaceAll(name, "_", "-"))
	if slices.Contains(inference.Kinds(), kind) {
		return kind, nil
	}
	names := usage.Words(inference.Kinds())
	return "", mistakef(schema.Meant(name, names, "attacks: "+strings.Join(names, ", ")), "unknown attack %q", name)
}
