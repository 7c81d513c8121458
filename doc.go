// Package pawl trains the best model that a privacy budget can buy, and reports exactly what
// it cost.
//
//	data, err := pawl.Open("patients.csv", "patients.yaml")
//	led, err := pawl.OpenLedger(ctx, "")
//	plan, err := led.Plan(ctx, data, pawl.Fit{Target: "readmitted", Budget: pawl.Budget{Epsilon: "0.5", Delta: "1e-6"}})
//	fmt.Println(plan.Price()) // charges nothing
//	res, err := plan.Run(ctx) // charges the ledger, then reads rows
//	err = res.WriteDir("out") // model, report.html, statement.json, model card
//
// [Fit], [Train], [Search], [Select] and [Describe] are jobs; all are planned, priced and run in the same way.
// [Account] computes the cost of a training run or an event, [Calibrate] computes the noise that meets
// a target, and [LoadModel] opens a released model for predictions. The caller supplies no key,
// digest, row count or randomness. examples/library is a complete program in a separate module.
//
// # What is guaranteed, and to whom
//
// Everything that a run on sensitive rows releases — the model, the score and every file — is a
// function of mechanisms whose composition is (ε, δ)-differentially private for the declared unit
// under the declared neighbouring relation. It protects the people in the data against everybody
// who sees the released files. docs/PRIVACY.md states the threat model and what is not covered. A
// run with a seed is a simulation and NOT PRIVATE.
//
// # Zero values and errors
//
// Functions of this package make Ledger, Data, Plan, Model, Predictions, Result and Answer; their
// zero values are not usable. The comments of Fit and the other jobs define their zero fields.
//
// [AsError] returns the status (2 for bad usage or data, 3 for a refusal by the ledger) and the hint
// of any error. No error shows a cell of a sensitive row.
//
// # The code
//
//   - core is the audited part: nothing outside it can open a sealed row. Start with
//     core/README.md, then core/dp (events), core/accountant (what they cost), core/ledger
//     (who may spend), core/internal/sealed (how rows open), core/sum and the mechanisms.
//   - data and reader turn a file into numbers, using public facts only; data/source opens any
//     argument.
//   - compute holds the kernel, layers, optimizers, networks by name and scattering features.
//   - learn and model hold learners, descriptions and models; search the choice of features, spaces,
//     strategies and studies.
//   - workflow prices a job, charges it and runs its stages; internal/request turns the requests of this
//     package and of the command line (internal/cli) into such jobs.
//   - evidence holds advice, comparisons and audits; experiments replays the tables and figures of the
//     papers, with their formulas.
//   - report and model/export write the released files; store holds the ledger.
//
// Imports point one way, from data and core up to this package and the command line:
// TestImportDirection walks the graph.
package pawl
