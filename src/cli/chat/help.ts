/** The help text of `ptc chat`. */
export const help = `/status       turns, calls, tokens and cost so far
/history      all messages as JSON, on stdout
/attach FILE  an image or a PDF for the next message
/reset        forget all messages; the variables of the sandbox stay
/close        end the conversation and its sandbox; a named session stays
exit          leave; the conversation waits
Ctrl-C interrupts the work on a message. A message that is sent meanwhile is read with the model's next turn.
A message that begins with / has another / before it.`
