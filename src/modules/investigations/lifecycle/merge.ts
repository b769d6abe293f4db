/** Merges a case into another open one: references move, and whoever may not see both sees neither of them there. */
import type { Tx } from '#kernel/database/tx.ts'
import { assertReferenced, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { evidenceStore } from '#modules/documents/index.ts'
import { accessLists } from '#modules/restrictions/index.ts'
import { workItems } from '#modules/work/index.ts'
import { INVESTIGATION, toWorkItem } from '../model.ts'
import { addSubject } from '../opening/queries.ts'
import {
  type InvestigationRow,
  insertCaseAlert,
  insertEvent,
  listCaseAlerts,
  listCaseSubjects,
  lockInvestigation,
} from '../queries.ts'
import { type Act, type ActContext, changeCase, expectPermitted } from './acts.ts'

export const merge: Act<{ into: string; note: string }> = async (context, row, { into, note }) => {
  const { tx, caller } = context
  await expectPermitted(context, 'merge', row)
  if (into === row.investigation_id) fail('conflict', 'An investigation cannot be merged into itself.')
  const target = assertReferenced(await lockInvestigation(tx, into), 'investigation with this id')
  if (target.state !== 'open') fail('transition_not_allowed', `The other investigation is ${target.state}.`)
  await assertNotNarrower(tx, row, target)
  await narrowAccess(tx, row, target, caller.principal)
  await copyReferences(context, row, target)
  await workItems.completeWork(tx, toWorkItem(row.investigation_id))
  await changeCase(
    context,
    row,
    { state: 'merged', merged_into: target.investigation_id, waiting_for: null, waiting_until: null },
    note,
  )
}

type Access = Awaited<ReturnType<typeof accessLists.listCurrentAccess>>[number]

const lastsAsLong = (one: Access, other: Access): boolean =>
  one.until === null || (other.until !== null && Date.parse(one.until) >= Date.parse(other.until))

/** Whoever sees a merged case learns of the one it was merged into, so nobody may see this one only. */
async function assertNotNarrower(tx: Tx, source: InvestigationRow, target: InvestigationRow): Promise<void> {
  if (!target.is_in_force || source.restriction_id === target.restriction_id) return
  const refuse = () =>
    fail('conflict', 'People who may see this investigation may not see the other one. Restrict it first.')
  if (!source.is_in_force) refuse()
  const [here, there] = [
    await accessLists.listCurrentAccess(tx, source.restriction_id),
    await accessLists.listCurrentAccess(tx, target.restriction_id),
  ]
  const isListed = (list: readonly Access[], person: Access) =>
    list.some((each) => each.user_id === person.user_id && each.effect === person.effect && lastsAsLong(each, person))
  const isSeen = here.every((person) => person.effect !== 'grant' || isListed(there, person))
  const isHidden = there.every((person) => person.effect !== 'exclude' || isListed(here, person))
  if (!isSeen || !isHidden) refuse()
}

/** People with access to both. An unrestricted case is open to everybody, so the people of the other one stay. */
async function narrowAccess(
  tx: Tx,
  source: InvestigationRow,
  target: InvestigationRow,
  principal: string,
): Promise<void> {
  if (!source.is_in_force || source.restriction_id === target.restriction_id) return
  const { restriction_id } = target
  for (const each of [source.restriction_id, restriction_id]) await accessLists.assertKeepsAccess(tx, each, principal)
  const people = await accessLists.listCurrentAccess(tx, source.restriction_id)
  const known = await accessLists.listCurrentAccess(tx, restriction_id)
  const granted = people.filter(({ effect }) => effect === 'grant')
  for (const { user_id, effect } of known)
    if (effect === 'grant' && !granted.some((each) => each.user_id === user_id))
      await accessLists.removeAccess(tx, restriction_id, user_id)
  if (!target.is_in_force)
    for (const { user_id, until, reason } of granted)
      await accessLists.upsertAccess(tx, restriction_id, { user_id, effect: 'grant', until, reason })
  for (const { user_id, reason } of people.filter(({ effect }) => effect === 'exclude'))
    await accessLists.upsertAccess(tx, restriction_id, { user_id, effect: 'exclude', until: null, reason })
  if (!target.is_in_force) await accessLists.imposeAgain(tx, restriction_id)
  const left = await accessLists.listCurrentAccess(tx, restriction_id)
  if (
    !left.some(({ user_id, effect }) => effect === 'grant' && `user:${user_id}` === principal) &&
    !(await accessLists.isMlro(tx, principal))
  )
    fail('conflict', 'You would lose access to the other investigation.')
  if (!(await accessLists.hasLastingAccess(tx, restriction_id)))
    fail('conflict', 'Nobody has access to both investigations that does not end.')
}

/** Content stays where it was written; the other case names the same objects, with the hashes of the day they were attached. */
async function copyReferences(
  { kernel, tx, request_id }: ActContext,
  source: InvestigationRow,
  target: InvestigationRow,
): Promise<void> {
  const { investigation_id, restriction_id } = target
  const [from, present] = [
    await evidenceStore.listEvidenceByOwner(tx, INVESTIGATION, source.investigation_id),
    await evidenceStore.listEvidenceByOwner(tx, INVESTIGATION, investigation_id),
  ]
  const attached = present.filter(({ detached_at }) => detached_at === null)
  for (const item of from.filter(({ detached_at, erased_at }) => detached_at === null && erased_at === null)) {
    const isPresent = attached.some(
      ({ kind, object_id, object_version }) =>
        object_id !== null &&
        kind === item.kind &&
        object_id === item.object_id &&
        object_version === item.object_version,
    )
    if (!isPresent)
      await evidenceStore.attachKnown(
        kernel,
        tx,
        { ...item, evidence_id: uuidv7(), owner_id: investigation_id, restriction_id },
        request_id,
      )
  }
  for (const { alert_id } of await listCaseAlerts(tx, source.investigation_id))
    await insertCaseAlert(tx, investigation_id, alert_id)
  const subjects = await listCaseSubjects(tx, investigation_id)
  for (const { subject_id } of await listCaseSubjects(tx, source.investigation_id))
    if (!subjects.some((each) => each.subject_id === subject_id))
      await addSubject(tx, investigation_id, subject_id, 'related')
  const data = { investigation_id: source.investigation_id }
  await insertEvent(tx, {
    event_id: uuidv7(),
    investigation_id,
    kind: 'merged_from',
    category: 'person',
    revision: null,
    data,
  })
}
