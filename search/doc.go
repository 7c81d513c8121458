// Package search prices and runs strategies that choose among candidate models:
// no search, a grid, random search, the best of a secret number of runs, hard random
// stopping, genetic search, generations of random search, and tuning on other rows.
//
// A Strategy says how many trainings there are, on which part of the rows, and what
// is released of them; from one family of trainings (Trial) follow its Event and its
// Quote. A Quote is made from public numbers only. The total is what the user asks
// for: the noise of each training is solved so that all of them, their validation
// scores and the final model together cost that much. The figures that the papers
// give for the same strategies stand beside, in Published, and are no guarantees.
//
// What makes each strategy private:
//
//   - ps, rs, ps-poisson and every generation of mgrs are selections in the sense of
//     Papernot and Steinke (arXiv:2110.03620): the number of runs is secret, candidates
//     are drawn independently of the data, nothing but the winner leaves;
//   - lt is hard random stopping (Liu and Talwar, arXiv:1811.07971);
//   - grid and paas read the score of every training, so all of them compose;
//   - split and subset choose on a part of the units given by the keyed hash: disjoint
//     parts cost the larger of the two, overlapping ones cost both;
//   - public chooses on other data, which are public, and pays for the last training only;
//   - stw chooses on the data themselves without paying: it is there for comparison, on
//     public data.
package search
