// Package pawl is the map of the project: train the best model that a privacy
// budget can buy, and show exactly what it cost.
//
// # What is guaranteed, and to whom
//
// Everything that leaves a run on sensitive rows — the model, the score and every
// file — is a function of mechanisms whose composition is (ε, δ)-differentially
// private for the declared unit under the declared neighbouring relation. The
// claim is made to the people in the data against everybody who sees what was
// released. docs/PRIVACY.md states the threat model and what is not covered.
//
// # How to use it
//
//	data, err := pawl.Open("patients.csv", "patients.yaml")
//	led, err := pawl.OpenLedger(ctx, "")
//	plan, err := led.Plan(ctx, data, pawl.Fit{Target: "readmitted", Budget: pawl.Budget{Epsilon: "0.5", Delta: "1e-6"}})
//	fmt.Println(plan.Price()) // charges nothing
//	res, err := plan.Run(ctx)
//
// A [Fit], a [Train], a [Search] and a [Select] are planned and run alike; [Account] and
// [Calibrate] answer what anything costs and which noise meets a target. The caller supplies no
// key, digest, bucket, row count or randomness. examples/library is a program in a module of
// its own.
//
// # Where to start reading
//
//   - core is the audited part: nothing outside it can open a sealed row. Read
//     core/README.md, then dp (vocabulary), accountant (what events cost), ledger
//     (who may spend), internal/sealed (how rows open), and the mechanisms:
//     release, gradient, convex, selection.
//   - schema, reader and encode turn a file into numbers by public facts only.
//   - learn, model, advise and workflow make a plan, run it and keep what leaves.
//   - kernel, nn, optim, zoo and scatter compute: products, layers, steps, networks
//     by name, scattering features. feature and evolve choose features from what
//     core/release has published.
//   - space holds search spaces, candidates drawn uniformly, mutation and crossover;
//     space/net and space/table turn a candidate into a network or a recipe. search prices
//     strategies; study runs one and goes on after an interruption, as checkpoint lets a
//     training do.
//   - audit attacks mechanisms and trainings; crossover compares two configurations.
//   - theory holds the papers' formulas; experiments replays their tables and figures.
//   - report writes the statement, the page and the model card; export writes models for
//     other programs.
//   - store/sqlite and store/postgres keep the ledger; dataset holds the built-in
//     benchmarks.
//   - data/source opens an argument, internal/request prices and runs what is asked for, and this
//     package offers both; cmd/pawl is the command line on top of it.
//
// Imports point one way: schema and encode, then core, then learn and model,
// workflow, report, adapters, cmd. TestImportDirection walks the graph.
package pawl
