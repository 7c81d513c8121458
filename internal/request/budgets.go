package request

import "pawl/core/ledger"

// Budgets lists the data sets of a ledger: what pawl ledger show --json prints.
type Budgets struct {
	Ledger   string       `json:"ledger"`
	Datasets []BudgetLine `json:"datasets"`
}

// BudgetLine is where one data set stands.
type BudgetLine struct {
	Name   string       `json:"name"`
	Public bool         `json:"public"`
	Total  ledger.Spend `json:"total"`
	// Per is how often the budget renews; the amounts are of the period.
	Per      ledger.Period `json:"per,omitempty"`
	Spent    ledger.Spend  `json:"spent"`
	Reserved ledger.Spend  `json:"reserved"`
	Left     ledger.Spend  `json:"left"`
	Entries  int           `json:"entries"`
	Seeded   int           `json:"seeded_runs"` // that mark the data set
}

// NewBudgetLine is the line of a statement.
func NewBudgetLine(s *ledger.Statement) BudgetLine {
	per := ledger.Once
	if s.Renewal != nil {
		per = s.Renewal.Per
	}
	return BudgetLine{s.Name, s.Public, s.Total, per, s.Spent, s.Reserved, s.Left, len(s.Entries), len(s.SeededRuns)}
}

// BudgetAccount is all about one data set: what pawl ledger show NAME --json prints.
type BudgetAccount struct {
	ledger.Statement
	Outlook *ledger.Outlook `json:"outlook"`
}
