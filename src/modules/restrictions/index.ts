/** Public interface of the restrictions router. */
import { expectPerson } from '#kernel/auth/principal.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Module } from '#kernel/module.ts'
import { fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertUser } from '#modules/access/index.ts'
import { designationRoutes } from './designation-routes.ts'
import {
  findAccess,
  imposeAgain,
  insertCanaryDesignation,
  insertCanaryEvent,
  insertRestriction,
  lockRestriction,
  removeAccess,
  restrictionErasure,
  updateImposed,
  upsertAccess,
} from './queries.ts'
import { assertKeepsAccess } from './readers.ts'
import { restrictionRoutes } from './routes.ts'

export * as accessLists from './access-lists.ts'
export { findRestriction, listUnreachable } from './queries.ts'

/** For a new object: not in force, so that imposing it later hides all that was stored with the object. */
export async function prepareRestriction(tx: Tx, purpose: string, prepared_for: string | null = null): Promise<string> {
  const restriction_id = uuidv7()
  await insertRestriction(tx, restriction_id, purpose, prepared_for)
  return restriction_id
}

/** Imposes what was prepared with an object, and gives the caller access. */
export async function imposePrepared(
  tx: Tx,
  { restriction_id, is_in_force }: { readonly restriction_id: string | null; readonly is_in_force: boolean },
  principal: string,
): Promise<void> {
  const user_id = expectPerson(principal, 'Only a person may restrict access, not an API key.')
  if (restriction_id === null) fail('transition_not_allowed', 'It was stored without a restriction.')
  if (is_in_force) fail('transition_not_allowed', 'It is restricted already.')
  await lockRestriction(tx, restriction_id)
  await assertKeepsAccess(tx, restriction_id, principal)
  const held = await findAccess(tx, restriction_id, user_id)
  if (held?.effect === 'exclude') fail('transition_not_allowed', 'You are excluded from its restriction.')
  await upsertAccess(tx, restriction_id, { user_id, effect: 'grant', until: null, reason: null })
  await imposeAgain(tx, restriction_id)
}

/** For an object that is hidden from its first moment: one person has access, who gives it to others. */
export async function createImposedRestriction(tx: Tx, purpose: string, user_id: string): Promise<string> {
  const restriction_id = await prepareRestriction(tx, purpose)
  await upsertAccess(tx, restriction_id, { user_id, effect: 'grant', until: null, reason: null })
  await updateImposed(tx, { restriction_id, revision: 1 })
  return restriction_id
}

export const restrictions: Module = {
  name: 'restrictions',
  segments: ['restrictions', 'mlro-designations'],
  tier: 'foundation',
  summary: 'Restrictions that hide an object and all that belongs to it from everybody without access.',
  routes: [...restrictionRoutes, ...designationRoutes],
  jobs: [],
  constraints: {
    restriction_access_until_ck: ['conflict', 'The end of a grant must be in the future.'],
    mlro_designation_waiting_key: ['duplicate', 'A designation of this person waits to be confirmed already.'],
    mlro_designation_four_eyes_ck: ['approval_own_request', 'Another person confirms it.'],
    mlro_designation_own_confirmation: ['approval_own_request', 'A person who is not designated by it confirms it.'],
  },
  search: {
    sources: [],
    unsearched: {
      getRestriction:
        'A restriction is opened from the object that it protects; its purpose must not appear beside ordinary results.',
    },
  },
  erases: [restrictionErasure],
  canary_table: 'restriction',
  canary: async (tx) => {
    const [restriction_id, user_id] = [uuidv7(), uuidv7()]
    await insertUser(tx, {
      user_id,
      issuer: 'canary',
      subject: `restriction canary ${user_id}`,
      email: null,
      name: 'canary',
      team: null,
      locale: null,
      roles: [],
      origin: 'external',
      state: 'invited',
    })
    await insertCanaryDesignation(tx, uuidv7(), user_id)
    await insertRestriction(tx, restriction_id, 'canary')
    await upsertAccess(tx, restriction_id, {
      user_id,
      effect: 'grant',
      until: null,
      reason: 'canary',
    })
    await removeAccess(tx, restriction_id, user_id)
    await upsertAccess(tx, restriction_id, { user_id, effect: 'grant', until: null, reason: 'canary' })
    await updateImposed(tx, { restriction_id, revision: 1 })
    await insertCanaryEvent(tx, restriction_id, uuidv7())
  },
}
