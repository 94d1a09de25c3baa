/** What the mode of this process has done so far. */
export const faults = {
  /** Workers that forget every workflow. */
  forgetfulWorkers: 0,
  sandboxesDestroyed: 0,
  connectionsDropped: 0,
}
