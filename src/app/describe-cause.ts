/** The message of the innermost error: our own problems only say that a dependency is missing. */
export function describeCause(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause instanceof Error) return describeCause(error.cause)
  // When both addresses of "localhost" refuse, the error is an AggregateError without a message of its own.
  const [first] = error instanceof AggregateError ? (error.errors as Error[]) : []
  return error.message || first?.message || (error as NodeJS.ErrnoException).code || error.name
}
