/** An erasure ledger for tests that do not restart anything. */
import { createEntry, type ErasureLedger, type LedgerEntry } from '#kernel/erasure/ledger.ts'

export function createMemoryLedger(entries: LedgerEntry[] = []): ErasureLedger {
  return {
    append: async (facts, signer) => {
      const known = entries.find(({ erasure_id }) => erasure_id === facts.erasure_id)
      if (known) return known
      const entry = createEntry(facts, entries.at(-1), signer)
      entries.push(entry)
      return entry
    },
    read: async () => [...entries],
    readVersion: async () => String(entries.length),
  }
}
