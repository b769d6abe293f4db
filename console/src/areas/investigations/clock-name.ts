/** What people call the clocks of a case. Pure. */
import { toSentence } from '#console/ui/format.ts'

/** A case that was opened again has the clocks of its playbook once more, with the number of the opening behind their keys. */
export function formatClockName(clock_key: string, clocks: readonly { readonly clock_key: string }[]): string {
  const first = clock_key.replace(/-\d+$/, '')
  return toSentence(clocks.some((clock) => clock.clock_key === first) ? first : clock_key)
}
