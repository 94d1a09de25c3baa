import { describe, expect, it } from 'vitest'
import { bash } from './index.js'

const expenses = {
  name: 'get_expenses',
  description: 'Gets the expenses of an employee.\n\nOnly approved ones.',
  inputSchema: {
    type: 'object',
    properties: { employee: { type: 'string' }, quarter: { enum: ['Q1', 'Q2'] }, limit: { type: 'integer' } },
    required: ['employee', 'quarter'],
  },
  outputSchema: {
    type: 'array',
    items: { type: 'object', title: 'Expense', properties: { amount: { type: 'number' } } },
  },
  inputExamples: [{ employee: 'E 1', quarter: 'Q1' }],
}

it('a tool is documented as a command line, with the types of its JSON in comments', () => {
  const { stub, signature } = bash.documentTools()(expenses)
  expect(stub).toBe(`\
# interface Expense { amount?: number }

# Gets the expenses of an employee.
#
# Only approved ones.
# Takes {
#   employee: string
#   quarter: "Q1" | "Q2"
#   /** integer */
#   limit?: number
# }
# Prints Expense[]
# Example: tool get_expenses employee='E 1' quarter=Q1
tool get_expenses employee=... quarter=... [limit=...]`)
  expect(signature).toMatch(/^# interface Expense[^]*\n\ntool get_expenses employee=\.\.\./)
  expect(bash.splitStub(stub)).toEqual({
    types: [['Expense', '# interface Expense { amount?: number }']],
    body: stub.slice(stub.indexOf('# Gets')),
  })
})

describe('the tools that a text calls in bash', () => {
  it.each([
    ['tool a', ['a']],
    ["tool a x=1\ntool b.c y='z'", ['a', 'b.c']],
    ['tool a | jq .', []],
    ['I will call tool a', []],
    ['echo', []],
  ] as const)('%j', (text, names) => {
    expect(bash.callsIn(text)).toEqual(names)
  })
})

describe('isCompleteBlock of bash', () => {
  it.each([
    'x=1',
    'echo "a" # why (',
    'if a; then b; fi',
    'for i in 1 2; do\n  echo $i\ndone',
    'f() { echo; }',
    'f() {\n  if a; then\n    b\n  fi\n}',
    'case $x in a) echo;; esac',
    'cat <<END\nif {\nEND',
    "cat <<-'E' | sort\n\tdo\n\tE",
    'echo if do {',
    'x=$(tool a | jq .b)',
    "echo it\\'s",
    'wc <<<"do"',
    '',
  ])('the block %j is complete', (text) => {
    expect(bash.repl.isCompleteBlock(text.split('\n'))).toBe(true)
  })

  it.each([
    'if a; then',
    'for i in 1 2; do',
    'while true\ndo\n  x',
    'f() {',
    'case $x in',
    'cat <<END\nx',
    'echo "a',
    "echo 'a\nb",
    'a |',
    'a &&',
    'a \\',
    'if a; then b; elif c; then',
  ])('the block %j is incomplete', (text) => {
    expect(bash.repl.isCompleteBlock(text.split('\n'))).toBe(false)
  })
})
