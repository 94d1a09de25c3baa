/** The question of the demo. */
export const question = `Which engineers exceeded their travel budget in Q3? \
The standard budget is 5,000 EUR a quarter; it covers travel and lodging, and only approved expenses count. \
Some people have an exception: check it, but only for those above 5,000 EUR.`
