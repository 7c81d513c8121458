// Package membership audits what a training leaks about who was in its data, by attacks
// of membership inference on targets that it trains itself, or on the weights of a model.
package membership

import (
	"errors"
	"fmt"
	"io"
	"pawl/evidence/audit/attack"
	"pawl/evidence/audit/bound"
	"pawl/evidence/audit/inference"
	"pawl/internal/cost"
	"pawl/internal/usage"
	"slices"
	"strings"
	"text/tabwriter"
)

// Audit is what an attack found.
type Audit struct {
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

// Convicted says that the claim is rejected.
func (m *Audit) Convicted() bool { return m.OneRun != nil && m.OneRun.Convicted }

// AllNotes are those of the report and of the audit.
func (m *Audit) AllNotes() []string { return slices.Concat(m.Report.Notes, m.Notes) }

// WriteText writes the numbers and the notes for a person.
func (m *Audit) WriteText(w io.Writer) error {
	return errors.Join(m.Text(w), bound.WriteNotes(w, m.AllNotes()))
}

// Text writes the numbers for a person, notes apart.
func (m *Audit) Text(to io.Writer) error {
	out := m
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
		fmt.Fprintf(w, "claim\tepsilon %s at delta %s\n", bound.Figure(out.Claim.Epsilon), cost.Full(out.Claim.Delta))
	}
	fmt.Fprintf(w, "records\t%d members, %d others\n", r.Members, r.NonMembers)
	fmt.Fprintf(w, "AUC\t%s\n", span(r.AUC))
	for _, s := range r.Success {
		fmt.Fprintf(w, "success\t%s with %s members (chance: %.3f", span(s.Rate), bound.Percent(s.Prior), s.Baseline)
		if out.Claim != nil {
			fmt.Fprintf(w, "; the claim allows %.3f", s.Ceiling)
		}
		fmt.Fprintln(w, ")")
	}
	for _, o := range r.AtRate {
		if o.Refusal != "" {
			fmt.Fprintf(w, "TPR at FPR %s\tnot reported: %s\n", bound.Percent(o.Asked), o.Refusal)
			continue
		}
		fmt.Fprintf(w, "TPR at FPR %s\t%s\n", bound.Percent(o.Asked), span(*o.TruePositives))
	}
	for _, c := range out.Classes {
		if c.Report == nil {
			fmt.Fprintf(w, "class %d\t%s\n", c.Class, c.Refusal)
			continue
		}
		fmt.Fprintf(w, "class %d\tAUC %s, %d records\n", c.Class, span(c.Report.AUC), c.Report.Members+c.Report.NonMembers)
	}
	if o := out.OneRun; o != nil {
		fmt.Fprintf(w, "lower bound\tepsilon is at least %s at delta %s (%s), where the claim is %s\n", bound.Figure(o.Shown.Epsilon), bound.Figure(o.Claim.Delta), bound.Percent(bound.Printed), bound.Figure(o.Claim.Epsilon))
		fmt.Fprintf(w, "verdict\t%s at %s\n", bound.Words(o.Convicted), bound.Percent(bound.Conviction))
	}
	return w.Flush()
}

func span(i bound.Interval) string {
	return fmt.Sprintf("%.3f (%.3f to %.3f)", i.Estimate, i.Lower, i.Upper)
}

// Headline is what stands above an audit that convicts.
func (m *Audit) Headline() string {
	claim := m.OneRun.Claim
	return fmt.Sprintf("REJECTED at %s: the claim of epsilon %s at delta %s does not hold", bound.Percent(bound.Conviction), bound.Figure(claim.Epsilon), bound.Figure(claim.Delta))
}

// Refusal is the refusal of an attack as a mistake of the operator's.
func Refusal(what string, err error) error {
	msg := err.Error()
	for _, prefix := range []string{attack.ErrInput.Error() + ": ", inference.ErrInput.Error() + ": ", bound.ErrInput.Error() + ": "} {
		msg = strings.ReplaceAll(msg, prefix, "")
	}
	switch {
	case errors.Is(err, attack.ErrConstant):
		return usage.New(what+": "+msg, "the attack does not distinguish any records: try another attack, or a model that is not constant")
	case errors.Is(err, attack.ErrOverlap):
		return usage.New(what+": "+msg, "each record must be in exactly one pool")
	case errors.Is(err, attack.ErrInput), errors.Is(err, bound.ErrInput), errors.Is(err, inference.ErrInput):
		advice := "columns of --scores: score (larger for members), member (1 or 0) and optionally class (from 0)"
		if strings.Contains(msg, "shadow models") {
			advice = "use --shadows 16, or --attack rmia, which needs only two"
		} else if strings.Contains(msg, "records under attack") {
			advice = "use fewer --shadows or more --records"
		}
		return usage.New(what+": "+msg, advice)
	}
	return err
}
