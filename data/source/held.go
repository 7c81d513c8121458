package source

import (
	"context"
	"errors"
	"fmt"

	"pawl/core/intake"
	"pawl/core/ledger"
	"pawl/data/schema"
	"pawl/internal/usage"
	"pawl/reader"
)

// NotSensitive refuses a table whose bytes the ledger holds as a sensitive data set, where they
// would be scored exactly and for nothing.
func NotSensitive(ctx context.Context, l *ledger.Ledger, path string, content *reader.Content, why, advice string) error {
	owner, err := sensitiveOwner(ctx, l, content)
	return HeldAsSensitive(path, owner, err, why, advice)
}

// HeldAsSensitive refuses what owner, unless "", holds as sensitive. why says what would be
// done with it.
func HeldAsSensitive(path, owner string, err error, why, advice string) error {
	if err != nil || owner == "" {
		return err
	}
	return usage.New(fmt.Sprintf("%s: this file is that of the sensitive data set %q, and %s", path, owner, why), advice)
}

// What is compared on as public must not be a sensitive data set's.
const (
	ComparedExactly = "comparisons on public data score exactly and free of charge"
	OtherRows       = "use --pay on that data set, or a file of public rows"
)

const (
	testIsExact = "a test file is scored exactly, without noise"
	otherTest   = "leave out --test, or use a file whose rows are public"
)

// sensitiveOwner is the sensitive data set that the ledger holds under these bytes, "" for none.
func sensitiveOwner(ctx context.Context, l *ledger.Ledger, content *reader.Content) (string, error) {
	digest, err := l.Digest(ctx, content.Reader())
	if err != nil {
		return "", err
	}
	return l.SensitiveUnder(ctx, digest)
}

// ScopeKey is the ledger's for the data set, so that a unit never changes its
// scope. On public data a seed makes its own, so that a seeded run is the same
// anywhere and every seed is another split.
func ScopeKey(ctx context.Context, l *ledger.Ledger, name string, s *schema.Schema, seed *uint64) (*intake.Key, error) {
	if seed != nil && s.Public {
		return intake.SimulationKey(name, *seed), nil
	}
	return l.Key(ctx, name)
}

// EffectivePublic asks the ledger whether the data set is public: the schema's
// flag counts only when the data set is new to it. It also notes the budget.
func EffectivePublic(ctx context.Context, l *ledger.Ledger, name string, s *schema.Schema) error {
	public, err := l.Public(ctx, name)
	switch {
	case errors.Is(err, ledger.ErrUnknownDataset):
		s.GrantedEpsilon = l.FirstTotal()
		return nil
	case err != nil:
		return err
	}
	if !public && s.Unit.Assumed {
		return schema.NoUnit(fmt.Sprintf("the ledger lists data set %q as sensitive", name))
	}
	if s.Public && !public {
		s.Warnings = append(s.Warnings,
			"the schema says public, but the ledger lists the data set as sensitive, and the ledger decides (to change it: pawl ledger declare-public)")
	}
	s.Public = public
	v, err := l.View(ctx, name)
	if err == nil && v.Granted != nil {
		s.GrantedEpsilon, s.GrantedDelta = v.Budget().Epsilon.String(), v.Budget().Delta.String()
	}
	return err
}
