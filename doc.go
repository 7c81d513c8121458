// Package pawl trains the best model that a privacy budget can buy, and shows exactly what
// it cost.
//
//	data, err := pawl.Open("patients.csv", "patients.yaml")
//	led, err := pawl.OpenLedger(ctx, "")
//	plan, err := led.Plan(ctx, data, pawl.Fit{Target: "readmitted", Budget: pawl.Budget{Epsilon: "0.5", Delta: "1e-6"}})
//	fmt.Println(plan.Price()) // charges nothing
//	res, err := plan.Run(ctx) // charges the ledger, then reads rows
//	err = res.WriteDir("out") // model, report.html, statement.json, model card
//
// [Fit], [Train], [Search], [Select] and [Describe] are jobs: all are planned, priced and run alike.
// [Account] computes the cost of any training run or event, [Calibrate] the noise that meets
// a target, [LoadModel] opens a released model to predict with. The caller supplies no key,
// digest, row count or randomness. examples/library is a program in a module of its own.
//
// # What is guaranteed, and to whom
//
// Everything that leaves a run on sensitive rows — the model, the score and every file — is a
// function of mechanisms whose composition is (ε, δ)-differentially private for the declared
// unit under the declared neighbouring relation. The guarantee is made to the people in the
// data against everybody who sees what was released. docs/PRIVACY.md states the threat model
// and what is not covered. A run with a seed is a simulation and NOT PRIVATE.
//
// # Errors
//
// Ledger, Data, Plan, Model, Predictions, Result and Answer are made by functions of this package;
// their zero values are of no use. In Fit and the like a zero field means what its comment says.
//
// Every error of this package can be read with [AsError]: it has a status (2 for bad usage or
// data, 3 for a refusal by the ledger) and a hint. No error shows a cell of a sensitive row.
//
// # The code
//
//   - core is the audited part: nothing outside it can open a sealed row. Start with
//     core/README.md, then core/dp (events), core/accountant (what they cost), core/ledger
//     (who may spend), core/internal/sealed (how rows open), core/sum and the mechanisms.
//   - data and reader turn a file into numbers by public facts only; data/source opens any
//     argument.
//   - compute holds the kernel, layers, optimizers, networks by name and scattering features.
//   - learn, model and feature hold learners, descriptions, models and the choice of features; search the
//     spaces, strategies and studies.
//   - workflow prices a job, books it, runs its stages; internal/request does so for what a
//     user asks for, for this package and for internal/cli, the command line.
//   - evidence holds advice, comparisons, audits and the formulas of the papers; experiments
//     replays their tables and figures.
//   - report and export write what leaves; store keeps the ledger.
//
// Imports point one way, from data and core up to this package and the command line:
// TestImportDirection walks the graph.
package pawl
