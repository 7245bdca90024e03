// Package budget keeps count of what agents use of their models, puts a price
// on it, and stops them at the limits their person has set.
//
// Each session has an Account. The proxy asks it before it sends a request that costs
// something (Admit) and reports the use from the answer (Settle). In between, the
// request's possible cost is reserved, so that other requests cannot spend it. The
// counts are written to a file of the session each time they change, so that a resumed
// session continues with them. They are also added to the Ledger, one file for all
// sessions of a state directory, which several programs may share.
//
// Prices are data with a date. They are an estimate: a provider's bill decides,
// and a model that the table does not know is counted at the table's fallback
// and marked so.
package budget
