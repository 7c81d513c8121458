// Package report writes what a run may publish: the machine-readable statement,
// one self-contained HTML page and the model card. It holds public facts and
// released values only; exact numbers appear when the data set is public, under
// that heading.
package report

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"pawl/evidence/quality"
)

// Number is a float64 whose JSON form of an infinite value is "inf" or "-inf" and
// of a missing one null, since JSON has neither.
type Number float64

// MarshalJSON implements json.Marshaler.
func (n Number) MarshalJSON() ([]byte, error) {
	switch f := float64(n); {
	case math.IsInf(f, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-inf"`), nil
	case math.IsNaN(f):
		return []byte("null"), nil
	case f == 0:
		return []byte("0"), nil // and not "-0", which a cost can become by rounding
	default:
		return json.Marshal(f)
	}
}

// UnmarshalJSON implements json.Unmarshaler: it reads what MarshalJSON writes, so
// that a statement can be checked again later. null reads as NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case `"inf"`:
		*n = Number(math.Inf(1))
	case `"-inf"`:
		*n = Number(math.Inf(-1))
	case "null":
		*n = Number(math.NaN())
	default:
		var f float64
		if err := json.Unmarshal(b, &f); err != nil {
			return fmt.Errorf(`want a number, "inf", "-inf" or null: %w`, err)
		}
		*n = Number(f)
	}
	return nil
}

// StatementVersion is the version that this package writes. It grows when a field
// changes its meaning; a new field does not change it.
const StatementVersion = 1

// Statement is the JSON object of `pawl fit --json` and of statement.json. Field
// names are a contract with other programs.
type Statement struct {
	Version  int       `json:"version"`
	Command  string    `json:"command"`
	Software Software  `json:"software"`
	Time     time.Time `json:"time"`
	// NotPrivate is true when a seed made the noise predictable, or nothing was
	// protected; every output then says NOT PRIVATE first.
	NotPrivate bool `json:"not_private"`
	// PublishedEpsilon is what a published procedure states although it left choices
	// unpaid; the claim is then infinite.
	PublishedEpsilon *Number `json:"published_epsilon_not_a_guarantee,omitempty"`
	// SeededRuns mark the data set: whatever this run claims, no epsilon bounds what they
	// put out about the same rows. Every statement has them until a steward clears them;
	// Cleared is how that was done. Mark enters them.
	SeededRuns []SeededRun `json:"seeded_runs"`
	Cleared    []Clearing  `json:"seeded_runs_cleared"`

	Data    Data    `json:"data"`
	Privacy Privacy `json:"privacy"`
	Budget  Budget  `json:"budget"`
	Score   *Score  `json:"score,omitempty"`
	Choice  Choice  `json:"choice"`
	Search  *Search `json:"search,omitempty"`
	// Counterfactual is nil where no choice is paid for.
	Counterfactual *Counterfactual `json:"counterfactual,omitempty"`
	Shapes         *Shapes         `json:"shapes,omitempty"` // of an additive model
	// Description is what pawl describe released, nil of other commands.
	Description *Description `json:"description,omitempty"`
	Advice      []Advice     `json:"advice"`
	Outputs     Paths        `json:"paths"`
	Warnings    []string     `json:"warnings"`
}

// Software identifies the program that made the statement.
type Software struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Go      string `json:"go"`
}

// Data says what is public about the data set.
type Data struct {
	Name   string `json:"name"`
	Target string `json:"target"`
	Task   string `json:"task"` // "classification" or "regression"
	// Public is true for benchmarks; the report then has a section of exact
	// numbers under the heading "public benchmark".
	Public bool `json:"public"`
	// Rows is the declaration of the number of rows, in words ("about 5000",
	// "declared 32561", "released by a paid count: 1023").
	Rows       string   `json:"rows"`
	Attributes int      `json:"attributes"`
	Classes    []string `json:"classes,omitempty"`
	Licence    string   `json:"licence,omitempty"`
	// Fingerprint is a keyed digest: it can be compared by the holder of the
	// ledger and guessed by nobody.
	Fingerprint string `json:"fingerprint"`
	// Different lists the sensitive data sets that the data, or the test rows (of: test),
	// resemble, although somebody has said that they hold other units.
	Different []Different `json:"different,omitempty"`
}

// Reconciliation is somebody's word on a log that was lost, or that did not hold.
type Reconciliation struct {
	What   string `json:"what"`
	By     string `json:"by"`
	At     string `json:"at"` // RFC 3339
	Reason string `json:"reason"`
}

// Different is that word: whose it is, and why.
type Different struct {
	Other  string `json:"other"`
	Reason string `json:"reason"`
	Of     string `json:"of,omitempty"`
	By     string `json:"by"`
	At     string `json:"at"`
}

// Privacy is the claim.
type Privacy struct {
	Epsilon  Number `json:"epsilon"` // of the whole plan, rounded up
	Delta    Number `json:"delta"`
	Relation string `json:"relation"`
	Unit     string `json:"unit"`
	// RowsPerUnit is the most rows one unit may own under the guarantee.
	RowsPerUnit int    `json:"rows_per_unit"`
	Accountant  string `json:"accountant"`
	// EpsilonBounds holds every valid bound by method, the smallest of which is
	// Epsilon.
	EpsilonBounds map[string]Number `json:"epsilon_bounds"`
	// EpsilonAsked and DeltaAsked are the operator's words.
	EpsilonAsked string            `json:"epsilon_asked"`
	DeltaAsked   string            `json:"delta_asked"`
	Sampling     string            `json:"sampling"` // "full batch", "Poisson", "Poisson and full batch", "Poisson within groups", "fixed passes"
	Events       []json.RawMessage `json:"events"`
	ByStage      map[string]Stage  `json:"by_stage"`
	// NotCovered lists what the guarantee does not speak of.
	NotCovered []string `json:"not_covered"`
}

// Stage is one entry of privacy.by_stage.
type Stage struct {
	Order   int    `json:"order"`
	Epsilon Number `json:"epsilon"` // alone, at the plan's delta
	// Share of the units' hash line that the stage reads, for example [0, 0.8).
	Scope string `json:"scope"`
	What  string `json:"what"`
}

// Budget is the ledger's view after the run.
type Budget struct {
	Ledger      string `json:"ledger"` // "per-user" or "team"
	Dataset     string `json:"dataset"`
	Granted     string `json:"granted"` // "self-granted by ann at 2026-…", "granted by …", "public data set: not limited"
	SelfGranted bool   `json:"self_granted"`
	// RunBy, GrantedBy and the times are the ledger's: users as their operating systems
	// name them, times in RFC 3339. GrantedBy is empty without a budget.
	RunBy           string `json:"run_by"`
	GrantedBy       string `json:"granted_by"`
	GrantedAt       string `json:"granted_at"`
	GrantedByRunner bool   `json:"granted_by_the_user_who_ran_this"`
	Reason          string `json:"grant_reason"`
	// Since is the time of the ledger's first record of the data set, Age the same in
	// words: "3 minutes before this run".
	Since string `json:"since"`
	Age   string `json:"age"`
	// Reconciled lists how the log of the data set was lost in part, or did not hold, and
	// who went on with it: what was spent before may not be in the account.
	Reconciled []Reconciliation `json:"reconciled,omitempty"`
	// Renewal is nil unless the budget renews: then the amounts are of the period that it
	// names.
	Renewal *Renewal `json:"renewal,omitempty"`
	// Unbounded says that seeded runs mark the data set: Spent counts the others only.
	Unbounded bool   `json:"unbounded"`
	Total     Amount `json:"total"`
	Spent     Amount `json:"spent"`
	Reserved  Amount `json:"reserved"`
	Left      Amount `json:"left"`
	Entry     string `json:"entry"` // this run's reservation
	Head      string `json:"head"`  // chain hash after the run
}

// Amount is an (epsilon, delta) pair of the ledger.
type Amount struct {
	Epsilon Number `json:"epsilon"`
	Delta   Number `json:"delta"`
}

// Score is what may be said about quality.
type Score struct {
	// Metric is "accuracy" (a fraction of 1) or "mean_absolute_error" (target
	// units).
	Metric string `json:"metric"`
	// Value is released under differential privacy, or exact on a public test set.
	Value    Number    `json:"value"`
	Interval [2]Number `json:"interval"` // 95 %, sampling of units and noise together
	// How says where it comes from: "released on a held-out scope", "public test
	// file", "public benchmark, official test set", "public benchmark, held-out scope".
	How string `json:"how"`
	// Baseline is the majority class's accuracy or the mean predictor's error,
	// from the same release.
	Baseline         Number     `json:"baseline"`
	BaselineInterval *[2]Number `json:"baseline_interval,omitempty"`
	// PublicTest is true when the scored rows are public: a public data set, or a
	// test file that the operator declared public.
	PublicTest bool `json:"public_test"`
	// Test is the exact value and only present for public rows.
	Test *Number `json:"test,omitempty"`
	// TestBaseline is the majority class's accuracy or the mean predictor's error
	// on the same public rows.
	TestBaseline *Number `json:"test_baseline,omitempty"`
	// Verdict says whether the model is worth using; package quality has the rule.
	Verdict quality.Verdict `json:"verdict,omitempty"`
	// UsefulFor is "labels" or "ranking" where the verdict is useful.
	UsefulFor string `json:"useful_for,omitempty"`
	// Gain is how much better the model is than the best constant, the most frequent class or
	// the median, on the same rows: a difference of accuracies, or of mean absolute errors. It is
	// paired, so it says more than two intervals.
	Gain *quality.Estimate `json:"gain,omitempty"`
	// AUROC is the area under the ROC curve: released, or exact on public rows, where it has no
	// value with noise beside it. null where it is not determined.
	AUROC         *Number    `json:"auroc,omitempty"`
	AUROCInterval *[2]Number `json:"auroc_interval,omitempty"`
	// Of a classification, and of a regression: their fields are fields of score.
	*quality.Classification
	*quality.Regression
	// Decision is how the model turns probabilities into labels.
	Decision *quality.Decision `json:"decision,omitempty"`
	// OfRange is the mean absolute error, exact where Test is, as a share of the target's
	// declared range: the error of a target scaled to [0, 1].
	OfRange *Number `json:"of_range,omitempty"`
	// UsedForChoosing is the winner's validation score when a private search chose
	// it: optimistic, and labelled so.
	UsedForChoosing *Number `json:"used_for_choosing,omitempty"`
	// ByGroup has the same metric in each group of a public column, where it was asked
	// for: paid for, or exact on public rows.
	ByGroup *ByGroup `json:"by_group,omitempty"`
}

// ByGroup is the score in each of several disjoint groups of rows.
type ByGroup struct {
	Attribute string `json:"attribute"`
	How       string `json:"how"`
	// Epsilon is what the groups cost alone, at the plan's delta: the same for any
	// number of groups, since a row is in one of them. 0 on public rows.
	Epsilon Number       `json:"epsilon"`
	Groups  []GroupScore `json:"groups"`
}

// GroupScore is the score of one group.
type GroupScore struct {
	Group string `json:"group"`
	// Value and Interval are null and absent where TooFew.
	Value    Number     `json:"value"`
	Interval *[2]Number `json:"interval,omitempty"`
	// Rows is the number of scored rows: noisy, and maybe negative, unless the rows
	// are public.
	Rows Number `json:"rows"`
	// TooFew says that the noisy number of rows is too small to say anything.
	TooFew bool `json:"too_few"`
	// Test is the exact value and only present for public rows.
	Test *Number `json:"test,omitempty"`
	// AUROC and Classification are those of the group's rows, of two classes: released, or exact
	// on public rows. Absent where TooFew.
	AUROC         *Number    `json:"auroc,omitempty"`
	AUROCInterval *[2]Number `json:"auroc_interval,omitempty"`
	*quality.Classification
}

func (g *GroupScore) area() *quality.Estimate { return asEstimate(g.AUROC, g.AUROCInterval) }

// Choice is what was decided.
type Choice struct {
	Workflow        string         `json:"workflow"` // "paw" or "stw"
	Model           string         `json:"model"`
	Features        []string       `json:"features"`
	Encoding        string         `json:"encoding"`
	Parameters      int            `json:"parameters"` // number of trainable parameters
	Hyperparameters map[string]any `json:"hyperparameters"`
	// UsefulModel is false when the majority or mean is all the budget can buy.
	UsefulModel bool   `json:"useful_model"`
	Search      string `json:"search"` // "none: …" or the selection's description
	// Selection says what Features were kept out of; nil where there are no attributes.
	Selection *Selection `json:"selection,omitempty"`
}

// Selection is how the attributes that a model may use were chosen.
type Selection struct {
	How     string   `json:"how"`
	Offered int      `json:"offered"`
	LeftOut []string `json:"left_out"`
	// Epsilon is the price of the stage that chose, alone at the plan's delta, and Share
	// that part of the whole plan's epsilon. Shares of stages do not add up to 1.
	Epsilon Number `json:"epsilon"`
	Share   Number `json:"share_of_epsilon"`
	// Together says that one event chose and trained: the price is that of both.
	Together bool `json:"with_training"`
	// Unpaid says that rows were looked at and not paid for.
	Unpaid bool `json:"unpaid"`
}

// Advice is one rule that fired, with its evidence. Name is that of a guideline of
// package advise, which other programs may rely on; Evidence is what we measured,
// Published what the papers did.
type Advice struct {
	Name      string `json:"name,omitempty"`
	Rule      string `json:"rule"`
	Because   string `json:"because"`
	Published string `json:"published,omitempty"`
	Evidence  string `json:"evidence"`
	Changes   string `json:"would_change"`
}

// Paths are the files written.
type Paths struct {
	Model     string `json:"model"` // "" of a description, as is Card
	Report    string `json:"report"`
	Statement string `json:"statement"`
	Card      string `json:"card"`
	// Signature is the ledger's word on the others, "" where it gave none.
	Signature string `json:"signature,omitempty"`
}
