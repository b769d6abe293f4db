/**
 * What the adapters of sanctions lists share: they turn records into parties, and some publishers spread one party over many
 * rows that stand far apart, so those are gathered first, within a limit.
 */
import type { Batch, SourceLocation } from '../adapter.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import type { Pending } from './pending.ts'
import type { PartyDraft } from './sanctioned-party.ts'

/** Ten times the largest list known; beyond it memory would no longer be bounded. */
const MAX_GATHERED_ROWS = 1_000_000

/** Adds the party to the batch, or rejects it for want of a name. */
export function addParty(out: Pending, draft: PartyDraft, at: SourceLocation): void {
  const party = draft.done()
  if (party) out.add(party, at)
  else out.reject(reject('value_missing', 'The party has no name.', at, null, '/name'))
}

/** Parties by their number on the list, in the order in which they first appear. */
export class Gathering {
  private readonly parties = new Map<string, { readonly draft: PartyDraft; readonly at: SourceLocation }>()
  private rows = 0

  party(source_id: string, at: SourceLocation, begin: () => PartyDraft): PartyDraft {
    if (++this.rows > MAX_GATHERED_ROWS) {
      refuseSource(
        'source_too_large',
        `The list has more than ${MAX_GATHERED_ROWS} rows, which is more than it can be.`,
        at,
      )
    }
    let known = this.parties.get(source_id)
    if (known === undefined) {
      known = { draft: begin(), at }
      this.parties.set(source_id, known)
    }
    return known.draft
  }

  has(source_id: string): boolean {
    return this.parties.has(source_id)
  }

  *batches(out: Pending): Generator<Batch, void, undefined> {
    for (const { draft, at } of this.parties.values()) {
      addParty(out, draft, at)
      if (out.full) yield out.take()
    }
    yield* out.rest()
  }
}
