/** Test fixtures of the playbooks router: one valid call per operation. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import {
  createOncePerTenant,
  type Fixture,
  type Fixtures,
  listReasonedOperations,
  noInput,
  type TextsInEvents,
} from '#test/support/operation-fixture.ts'

const at = '/playbooks'
const title = 'Enhanced due diligence, person'
/** Seeded for all tenants. */
const SHARED = 'edd-person'
const oncePerTenant = createOncePerTenant()
const newKey = () => `edd-person-${uuidv7().slice(-12)}`

/** A playbook with a step of each kind; the changes replace members. */
export const examplePlaybook = (changes: Readonly<Record<string, unknown>> = {}) => ({
  title,
  subject_types: ['person'],
  typologies: ['pep'],
  facts: [
    { name: 'residence_country', title: 'Country of residence', type: 'string' },
    { name: 'years_known', title: 'Years known', type: 'integer', minimum: 0, maximum: 100 },
  ],
  clocks: [
    { key: 'first-action', hours: 8 },
    { key: 'close', days: 20, day_kind: 'business', calendar: 'eu-target' },
  ],
  steps: [
    {
      key: 'prohibited',
      kind: 'provider',
      with: {
        provider: 'prohibited-jurisdiction-check',
        capability: 'registry.lookup',
        input: { key: { fact: 'residence_country' } },
      },
      required: true,
      reuse_days: 30,
      max_cost: { amount: '2.00', currency: 'EUR' },
    },
    {
      key: 'rate',
      kind: 'evaluation',
      with: { matrix: 'customer-risk-person' },
      needs: ['prohibited'],
      when: { years_known: '< 3' },
    },
    {
      key: 'funds',
      kind: 'task',
      with: { title: 'Source of funds', role: 'analyst', checklist: ['Payslip or tax return seen'] },
      required: true,
    },
  ],
  outcomes: ['INV_NO_SUSPICION', { code: 'INV_SUSPICION', needs: ['rate'] }],
  ...changes,
})

async function createDrafted(t: ExampleTenant): Promise<string> {
  const playbook_key = newKey()
  await t.make(`POST ${at}`, { body: { playbook_key, title, definition: examplePlaybook() } })
  return playbook_key
}

/** Two versions, and no draft. */
async function createPublished(t: ExampleTenant, active: readonly number[] = []): Promise<string> {
  const key = await createDrafted(t)
  await t.make(`POST ${at}/${key}/versions/draft/publish`, { body: {} })
  const definition = examplePlaybook({ clocks: [{ key: 'close', days: 10, day_kind: 'business' }] })
  await t.make(`POST ${at}/${key}/versions`, { body: { definition } })
  await t.make(`POST ${at}/${key}/versions/draft/publish`, { body: { note: 'Closed within ten days' } })
  for (const version of active) {
    await t.make(`POST ${at}/${key}/activations`, { body: { version, reason: 'Reviewed' } })
  }
  return key
}

/** One that is in force, the same for each tenant. */
export const ensurePlaybook = (t: ExampleTenant): Promise<string> =>
  oncePerTenant(t, 'playbook', () => createPublished(t, [1, 2]))

const onShared = { params: { playbook_key: SHARED }, shared: true as const }
const buildPin = async (t: ExampleTenant) => {
  const { active } = await t.make(`GET ${at}/${SHARED}`)
  return { version: (active as { version: number }).version, reason: 'In review' }
}

const one: Fixture = async (t) => ({ params: { playbook_key: await ensurePlaybook(t) } })
const version: Fixture = async (t) => ({ params: { playbook_key: await ensurePlaybook(t), version: '1' } })
const draft: Fixture = async (t) => ({ params: { playbook_key: await createDrafted(t), version: 'draft' } })
const withBody =
  (fixture: Fixture, body: unknown): Fixture =>
  async (t, role) => ({ ...(await fixture(t, role)), body })

export const textsInEvents: TextsInEvents = [...listReasonedOperations('Playbook'), 'publishPlaybookDraft']

export const fixtures: Fixtures = {
  listPlaybooks: noInput,
  createPlaybook: () => ({ body: { playbook_key: newKey(), title, definition: examplePlaybook() } }),
  getPlaybook: one,
  updatePlaybook: withBody(one, { owner: 'Financial crime policy' }),
  archivePlaybook: async (t) => ({ params: { playbook_key: await createDrafted(t) } }),
  listPlaybookDependencies: one,
  listPlaybookVersions: one,
  createPlaybookDraft: async (t) => ({ params: { playbook_key: await createPublished(t) }, body: {} }),
  getPlaybookVersion: version,
  updatePlaybookDraft: withBody(draft, { definition: examplePlaybook() }),
  deletePlaybookDraft: draft,
  publishPlaybookDraft: withBody(draft, {}),
  diffPlaybookVersions: async (t) => ({
    params: { playbook_key: await ensurePlaybook(t) },
    query: { from: '1', to: '2' },
  }),
  listPlaybookActivations: one,
  activatePlaybookVersion: async (t) => ({
    params: { playbook_key: await createPublished(t) },
    body: { version: 1, reason: 'Reviewed' },
  }),
  submitPlaybookVersion: withBody(version, { reason: 'Cases are to be closed within ten days' }),
  rollBackPlaybook: async (t) => ({
    params: { playbook_key: await createPublished(t, [1, 2]) },
    body: { reason: 'Ten days are too few' },
  }),
  deletePlaybookActivation: async (t) => {
    const playbook_key = await createPublished(t)
    const body = { version: 1, reason: 'Later', effective_from: '2090-01-01T00:00:00Z' }
    const { activation_id } = await t.make(`POST ${at}/${playbook_key}/activations`, { body })
    return { params: { playbook_key, activation_id: activation_id as string } }
  },
  pinPlaybook: async (t) => ({ ...onShared, body: await buildPin(t) }),
  unpinPlaybook: async (t) => {
    await t.make(`POST ${at}/${SHARED}/pin`, { body: await buildPin(t) })
    return { ...onShared, body: { reason: 'Reviewed' } }
  },
  validatePlaybookVersion: version,
  listPlaybookStepKinds: noInput,
  listPlaybookUses: async (t) => {
    await ensurePlaybook(t)
    return { query: { family: 'matrix', key: 'customer-risk-person' } }
  },
}
