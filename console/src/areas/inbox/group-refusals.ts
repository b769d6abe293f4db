/** The rules that a bulk act would break, each once with the number of alerts. Pure. */

interface BulkItem {
  readonly detail: string | null
  readonly code: string | null
}

export function groupRefusals(items: readonly BulkItem[]): { readonly detail: string; readonly count: number }[] {
  const counts = new Map<string, number>()
  for (const { detail, code } of items) {
    if (code === null) continue
    const rule = detail ?? code
    counts.set(rule, (counts.get(rule) ?? 0) + 1)
  }
  return [...counts].map(([detail, count]) => ({ detail, count })).sort((one, other) => other.count - one.count)
}
