/*
 * The JavaScript runner: runs inside a sandbox, executes cells, and stops when only tool calls and timers are pending.
 *
 * Modules of Node only, and one parser (vendor/acorn.js). The launcher has put the protocol on descriptors 3 and 4.
 *
 * 1. The runner has no secret and no authority. User code can do everything that this process can, so the host checks
 *    every frame again.
 * 2. A step has one result; a repeated request gets the same result. A host with an older fence is refused.
 * 3. User code can't end the session, only its cell, except by ending the process. Its output is never read as a frame.
 * 4. A cell is bounded in time, in printed characters, in tool calls, and in the size of arguments.
 *
 *   session.js       the session: its program, its open tool calls, the result of each step
 *   protocol/        frames on private descriptors, the order of steps, values that arrive in pieces
 *   program/         runs cells: their source, their evaluation, tools, output, errors, the time limit
 *   determinism/     the state that a rebuild must reproduce: time, timers, random numbers
 */
'use strict'
const { Session } = require('./session.js')

new Session().start()
