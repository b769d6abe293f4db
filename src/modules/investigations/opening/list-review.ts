/** The gate that keeps lists which open cases without a person from naming playbooks that cannot be used, and playbooks from leaving them. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { FinishReview } from '#kernel/request/change-reviews.ts'
import { type activationStore, resolver } from '#modules/definitions/index.ts'
import { type InvestigationSchedule, SCHEDULES } from '../schedule/open-due-job.ts'
import { type InvestigationTrigger, TRIGGERS } from './triggers.ts'
import { findPlaybookFault } from './usable-playbook.ts'

const lists: readonly string[] = [TRIGGERS, SCHEDULES]

interface EntryFault {
  readonly list_key: string
  readonly code: string
  readonly playbook: string
  readonly message: string
}

/** Only faults that the change introduces are reported: an entry with a fault must not block corrections. */
export async function reviewOpeningLists(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  change: unknown,
): Promise<FinishReview> {
  const { family, list_key, effective_from } = change as activationStore.InForceChange
  const isLater = effective_from !== null && Date.parse(effective_from) > Date.now()
  const isReviewed = family === 'playbook' || (family === 'list' && lists.includes(list_key))
  if (isLater || !isReviewed) return async () => []
  const isNamed = ({ playbook }: { readonly playbook: string }) => family === 'list' || playbook === list_key
  const before = await listFaults(kernel, tx, isNamed)
  const toId = (fault: EntryFault): string => `${fault.list_key} ${fault.code} ${fault.message}`
  const known = new Set(before.map(toId))
  return async () => {
    const introduced = (await listFaults(kernel, tx, isNamed)).filter((fault) => !known.has(toId(fault)))
    const [first] = introduced
    if (!first) return []
    return [
      {
        gate: family === 'list' ? 'proof' : 'referenced-by',
        detail: `The entry ${first.code} of ${first.list_key} could not open a case: ${first.message}`,
        overridable: false,
        facts: { family, key: list_key, entries: introduced.slice(0, 20) },
      },
    ]
  }
}

async function listFaults(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  isNamed: (entry: { readonly playbook: string }) => boolean,
): Promise<EntryFault[]> {
  // Not from the cache of pointers: the change is not committed.
  const pointers = await resolver.findPointersInForce(tx, lists, {})
  const found: EntryFault[] = []
  for (const [list_key, pointer] of pointers) {
    const entries = await resolver.readPolicyEntries<InvestigationTrigger | InvestigationSchedule>(kernel, tx, pointer)
    for (const { code, playbook, subject_type } of entries.filter(isNamed)) {
      const message = await findPlaybookFault(kernel, tx, { playbook, subject_type })
      if (message !== null) found.push({ list_key, code, playbook, message })
    }
  }
  return found
}
