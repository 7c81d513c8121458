package ledger

import "pawl/core/internal/sealed"

// Permit is the right to run what one reservation paid for. It is opaque outside
// core: mechanisms take it, nobody else can use it.
type Permit = sealed.Permit
