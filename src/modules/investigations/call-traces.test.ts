/** What the calls of a restricted case leave elsewhere is hidden with it. */
import { expect, test } from 'vitest'
import { uuidv7 } from '#kernel/uuid.ts'
import { answer, calls, setUpProviderCalls, t, w } from '#test/support/provider-call-suite.ts'

setUpProviderCalls()

async function publishPlaybook(): Promise<string> {
  const playbook_key = `gathered-${uuidv7().slice(-12)}`
  const step = {
    ...{ key: 'registry', kind: 'provider', required: true },
    with: { provider: calls.provider_key, capability: 'company.lookup', input: { number: { fact: 'number' } } },
  }
  const definition = {
    ...{ title: 'Gathered', subject_types: ['company'], steps: [step], outcomes: ['INV_NO_SUSPICION'] },
    facts: [{ name: 'number', title: 'Number', type: 'string' }],
  }
  await t.make('POST /playbooks', { body: { playbook_key, title: 'Gathered', definition } })
  await t.make(`POST /playbooks/${playbook_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /playbooks/${playbook_key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
  return playbook_key
}

/** A case that only the first person sees has asked the provider. */
async function gatherRestricted() {
  const member = await w.person(t.tenant_id, ['compliance_officer', 'analyst', 'auditor'])
  const outsider = await w.person(t.tenant_id, ['compliance_officer', 'auditor', 'tenant_admin'])
  const playbook_key = await publishPlaybook()
  const company = { subject_type: 'company', name: 'Example Ltd', attributes: { number: '00000006' } }
  const { subject_id } = await t.make('POST /subjects', { body: company })
  const body = { subject_id, playbook_key, is_restricted: true }
  const { json } = await w.call('POST /investigations', { token: member.token, body })
  w.startRunner(2)
  await calls.ended(json.job_id)
  const read = async (who: typeof member, line: string) => (await w.call(line, { token: who.token })).json
  const [step] = (await read(member, `GET /investigations/${json.investigation_id}`)).steps
  expect((await read(outsider, `GET /providers/calls/${step.call_id}`)).code).toBe('not_found')
  return { member, outsider, read, call_id: step.call_id as string }
}

test('the access log of a credential lists what it was opened for to those who may see the call', async () => {
  const credential_id = await calls.connect()
  answer()
  const { member, outsider, read, call_id } = await gatherRestricted()
  const log = `GET /provider-credentials/${credential_id}/access-log`
  expect((await read(outsider, log)).items).toEqual([])
  expect((await read(member, log)).items).toMatchObject([
    { purpose: 'call', call_id, restriction_id: expect.any(String) },
  ])
  // When it was used last is what the log says to the reader.
  const lastUse = async (who: typeof member) =>
    (await read(who, `GET /provider-credentials/${credential_id}/versions`)).items[0].last_used_at as string | null
  expect([await lastUse(outsider), await lastUse(member)]).toEqual([null, expect.any(String)])
  const open = await calls.run()
  const shown = (await read(outsider, log)).items
  expect(shown).toMatchObject([{ purpose: 'call', call_id: open.call_id, restriction_id: null }])
  expect(await lastUse(outsider)).toBe(shown[0].accessed_at)
})

test('violations of a contract are counted and named as far as their payloads may be seen', async () => {
  await calls.connect()
  answer(() => ({ body: { unexpected: true } }))
  const { member, outsider, read } = await gatherRestricted()
  const countSeen = async (who: typeof member) => {
    const { violations } = await read(who, 'GET /source-contracts/company-registry/drift')
    return (violations as { violations: number; samples: string[] }[]).map((one) => [one.violations, ...one.samples])
  }
  const [hidden] = await countSeen(member)
  expect([hidden?.[0], await countSeen(outsider)]).toEqual([1, []])
  await calls.run()
  const [open] = await countSeen(outsider)
  expect(open?.[0]).toBe(1)
  expect(await countSeen(member)).toEqual([[2, hidden?.[1], open?.[1]]])
})
