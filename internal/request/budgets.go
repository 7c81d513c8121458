package request

import (
	"fmt"
	"io"
	"text/tabwriter"

	"pawl/core/ledger"
	"pawl/core/ledger/figures"
)

// Budgets lists the data sets of a ledger: what pawl ledger show --json prints.
type Budgets struct {
	Ledger   string       `json:"ledger"`
	Datasets []BudgetLine `json:"datasets"`
}

// WriteText writes one line for each data set.
func (b Budgets) WriteText(w io.Writer) error {
	if len(b.Datasets) == 0 {
		_, err := fmt.Fprintf(w, "The ledger has no data sets yet (%s).\n", b.Ledger)
		return err
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintln(t, "data set\tkind\tepsilon\tspent\treserved\tleft\tdelta\tentries")
	for _, d := range b.Datasets {
		spent := amount(d.Spent.Epsilon)
		if d.Seeded > 0 {
			spent += fmt.Sprintf(", no bound (%d seeded)", d.Seeded)
		}
		total := limited(d.Total.Epsilon)
		if d.Per != ledger.Once {
			total += " per " + string(d.Per)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%d\n", d.Name, kindOf(d.Public), total, spent,
			amount(d.Reserved.Epsilon), limited(d.Left.Epsilon), deltaText(d.Total.Delta), d.Entries)
	}
	return t.Flush()
}

// BudgetLine is where one data set stands.
type BudgetLine struct {
	Name   string        `json:"name"`
	Public bool          `json:"public"`
	Total  figures.Spend `json:"total"`
	// Per is how often the budget renews; the amounts are of the period.
	Per      ledger.Period `json:"per,omitempty"`
	Spent    figures.Spend `json:"spent"`
	Reserved figures.Spend `json:"reserved"`
	Left     figures.Spend `json:"left"`
	Entries  int           `json:"entries"`
	Seeded   int           `json:"seeded_runs"` // that mark the data set
}

// NewBudgetLine is the line of a statement.
func NewBudgetLine(s *figures.Statement) BudgetLine {
	per := ledger.Once
	if s.Renewal != nil {
		per = s.Renewal.Per
	}
	return BudgetLine{s.Name, s.Public, s.Total, per, s.Spent, s.Reserved, s.Left, len(s.Entries), len(s.SeededRuns)}
}

// BudgetAccount is all about one data set: what pawl ledger show NAME --json prints.
type BudgetAccount struct {
	figures.Statement
	Outlook *figures.Outlook `json:"outlook"`
}

// WriteText writes the account in words.
func (b BudgetAccount) WriteText(w io.Writer) error {
	if err := writeStatement(w, &b.Statement); err != nil {
		return err
	}
	writeOutlook(w, b.Outlook)
	return nil
}
