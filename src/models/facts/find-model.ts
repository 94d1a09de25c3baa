// A dated snapshot counts as its model. Any other longer name (claude-opus-5 -> claude-opus-5-9) is another model.
const snapshotSuffix = /^(?:[-@]\d{8}|-latest)$/

/** The entry of a table by the ids of models; undefined for a model that is not in the table. */
export function findModel<Entry>(table: Readonly<Record<string, Entry>>, model: string): Entry | undefined {
  const known = Object.keys(table)
    .filter((id) => model === id || (model.startsWith(id) && snapshotSuffix.test(model.slice(id.length))))
    .sort((a, b) => b.length - a.length)[0]
  return known === undefined ? undefined : table[known]
}
