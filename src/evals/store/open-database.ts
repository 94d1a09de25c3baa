import type BetterSqlite3 from 'better-sqlite3'
import { messageOf, PtcError } from '../../common/errors.js'

export type Database = BetterSqlite3.Database

/** Milliseconds for which a process waits while another one writes. */
const busyMs = 15_000

/**
 * The version of the tables. A new version adds a step to `migrations`; steps never change.
 *
 * Times are milliseconds since 1970. Amounts of US dollars are null when they are unknown.
 */
const migrations: readonly string[] = [
  `
CREATE TABLE evals (
  id TEXT PRIMARY KEY,
  key TEXT NOT NULL,
  number INTEGER NOT NULL,
  label TEXT NOT NULL,
  version TEXT NOT NULL,
  repeats INTEGER NOT NULL,
  max_cost_usd REAL,
  created_at INTEGER NOT NULL,
  finished_at INTEGER,
  owner TEXT,
  owner_pid INTEGER,
  owner_host TEXT,
  alive_at INTEGER,
  UNIQUE (key, number)
) STRICT;
CREATE TABLE arms (
  eval TEXT NOT NULL REFERENCES evals (id),
  number INTEGER NOT NULL,
  name TEXT NOT NULL,
  model TEXT NOT NULL,
  system_file TEXT,
  digest TEXT NOT NULL,
  PRIMARY KEY (eval, number)
) STRICT;
CREATE TABLE samples (
  eval TEXT NOT NULL REFERENCES evals (id),
  key TEXT NOT NULL,
  position INTEGER NOT NULL,
  task TEXT NOT NULL,
  task_digest TEXT NOT NULL,
  arm INTEGER NOT NULL,
  repeat INTEGER NOT NULL,
  state TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  workflow_id TEXT,
  kind TEXT,
  reason TEXT,
  turns INTEGER,
  cells INTEGER,
  tool_calls INTEGER,
  input_tokens INTEGER,
  output_tokens INTEGER,
  cache_read_tokens INTEGER,
  cache_write_tokens INTEGER,
  cost_usd REAL,
  judge_cost_usd REAL,
  spent_usd REAL NOT NULL DEFAULT 0,
  reserved_usd REAL NOT NULL DEFAULT 0,
  milliseconds INTEGER,
  verified INTEGER,
  interrupted INTEGER NOT NULL DEFAULT 0,
  timed_out_at INTEGER,
  started_at INTEGER,
  ended_at INTEGER,
  PRIMARY KEY (eval, key)
) STRICT;
CREATE INDEX samples_by_position ON samples (eval, position);
`,
]

/**
 * Opens the database of results, and creates it or updates its tables.
 *
 * @param path of a file; `:memory:` for a test
 * @throws PtcError EVAL_STORE_UNAVAILABLE
 */
export async function openDatabase(path: string): Promise<Database> {
  const Constructor = await loadDriver()
  let database: Database | undefined
  try {
    database = new Constructor(path, { timeout: busyMs })
    // Readers of `ptc eval show` and the writer of a running eval do not wait for each other.
    database.pragma('journal_mode = WAL')
    database.pragma('synchronous = FULL')
    database.pragma('foreign_keys = ON')
    migrate(database, path)
    return database
  } catch (cause) {
    database?.close()
    if (PtcError.isInstance(cause)) throw cause
    throw new PtcError('EVAL_STORE_UNAVAILABLE', `the results in ${path} can't be opened: ${messageOf(cause)}`, {
      cause,
    })
  }
}

async function loadDriver(): Promise<typeof BetterSqlite3> {
  try {
    return (await import('better-sqlite3')).default
  } catch (cause) {
    throw new PtcError('EVAL_STORE_UNAVAILABLE', `ptc eval needs the package better-sqlite3: ${messageOf(cause)}`, {
      hint: 'Install it: npm install better-sqlite3@12',
      cause,
    })
  }
}

/** Two processes may open a new file at once: the version is read again inside of the transaction. */
function migrate(database: Database, path: string): void {
  const current = versionOf(database)
  if (current === migrations.length) return
  database
    .transaction(() => {
      const version = versionOf(database)
      if (version > migrations.length) {
        throw new PtcError('EVAL_STORE_UNAVAILABLE', `a newer version of durable-ptc wrote the results in ${path}`, {
          hint: 'Use that version, or another file: --results FILE.',
        })
      }
      for (const step of migrations.slice(version)) database.exec(step)
      database.pragma(`user_version = ${migrations.length}`)
    })
    .immediate()
}

function versionOf(database: Database): number {
  return Number(database.pragma('user_version', { simple: true }))
}
