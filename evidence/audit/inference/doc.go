// Package inference trains a target and shadow models by one recipe, attacks the target
// with them and says what came out: who was a member of what is known, because the audit
// itself tossed the coins.
//
// Where to start: audit.go (the audit), design.go (who is trained on what). The attacks
// are in audit/attack, bounds in audit/bound.
package inference
