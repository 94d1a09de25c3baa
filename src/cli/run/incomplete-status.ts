/** For every status of an answer except `answered`. */
export const incompleteStatusMessages = {
  turn_limit: 'the run used up its turns; the answer may be incomplete (limits.turns in the configuration)',
  budget_spent: 'the budget of the run is spent (budget in the configuration, or of the run)',
  refused: 'the model declined to answer',
  truncated: 'the answer was cut at the token limit (model.maxTokens in the configuration)',
  context_full: "the conversation became larger than the model's context window",
  no_answer: 'the model gave no answer',
  invalid_answer: 'no answer of the model fitted the output schema (limits.answerAttempts in the configuration)',
  gave_up: 'the model gave up',
  invalid_plan: 'the model submitted no valid plan (limits.answerAttempts in the configuration)',
  tool_error: 'the code or a call of the only turn failed',
} as const
