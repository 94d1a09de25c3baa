/* Loops over literals, whose first round is certain. */
'use strict'

const isIdentifier = (node) => node?.type === 'Identifier'

/** A literal with at least one element. */
function isFilled(node) {
  if (node.type === 'Literal') return typeof node.value === 'string' && node.value.length > 0
  return node.type === 'ArrayExpression' && node.elements.some((each) => each?.type !== 'SpreadElement')
}

/** `for (let i = 0; i < 3; …)` */
function isTrueAtFirst(init, test) {
  if (!test) return true
  const [first, ...others] = init?.type === 'VariableDeclaration' ? init.declarations : []
  if (!isIdentifier(first?.id) || others.length > 0 || test.type !== 'BinaryExpression') return false
  const [from, to] = [first.init?.value, test.right.value]
  if (test.left.name !== first.id.name || typeof from !== 'number' || typeof to !== 'number') return false
  return test.operator === '<' ? from < to : test.operator === '<=' && from <= to
}

/** The function of `['a', 'b'].map(…)`. */
function callbackOfMap(node) {
  if (node?.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return undefined
  const { callee, arguments: given } = node
  const isMap = !callee.computed && callee.property.name === 'map' && callee.object.type === 'ArrayExpression'
  return isMap && isFilled(callee.object) && given[0]?.type === 'ArrowFunctionExpression' ? given[0] : undefined
}

module.exports = { callbackOfMap, isFilled, isTrueAtFirst }
