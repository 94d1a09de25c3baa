/** For `vi.waitFor` and the like: reached on failure only, so that a slow machine fails nothing. */
export const patient = { timeout: 300_000, interval: 50 } as const

/** For what lasts a moment only. */
export const attentive = { ...patient, interval: 10 } as const

/** The same for what takes a signal. */
export function patientSignal(): AbortSignal {
  return AbortSignal.timeout(patient.timeout)
}
