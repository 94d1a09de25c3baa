/*
 * Demo: the example examples/team-expenses on this machine, with or without a key for the model.
 *
 * Owns the demo's server, worker, model (real or scripted) and summary, with the estimate of direct calls.
 * Boundary: part of a checkout, not of the package. Uses the scripted Messages API of `durable-ptc/testing`.
 *
 * Invariants:
 * 1. Without an API key a script replaces the model, and the user is told.
 * 2. The worker gets the address of the script as an option. The environment stays as it is.
 */
export { prepareDemoModel } from './demo-model.js'
export { loadExample } from './example.js'
