/** Routes of the log of seeding and of the operator's changes to shared definitions. */
import { everyone } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { closed, nullable, oneOf, pageOf, pageQuery, Timestamp, Type, text } from '#kernel/schema.ts'
import { registrySchemas, seeding } from '#modules/definitions/index.ts'

const Seed = closed(
  {
    subject: text(200, { description: 'type:<type_key> or list:<list_key>.' }),
    seed_hash: registrySchemas.Sha256,
    version: nullable(registrySchemas.VersionNumber),
    outcome: oneOf(['applied', 'activated', 'pending']),
    why: text(500),
    applied_at: Timestamp(),
  },
  { title: 'Seed' },
)
const OperatorEvent = closed(
  {
    seq: registrySchemas.VersionNumber,
    recorded_at: Timestamp(),
    actor: text(200),
    operation: text(100),
    subject: text(200),
    detail: Type.Unsafe<Record<string, unknown>>({ type: 'object' }),
    prev_hash: registrySchemas.Sha256,
    hash: registrySchemas.Sha256,
  },
  { title: 'OperatorEvent' },
)

const why = {
  applied: 'Published by seeding; it needs no activation, or a later version was activated.',
  activated: 'Published by seeding and put in force, since no version of the list was ever in force.',
  pending:
    'Published by seeding. The list was in force already, and a deployment never changes policy: the operator activates it.',
} as const

export const seedRoutes = [
  tenantRoute('GET /reference-data/seeds', {
    id: 'listSeeds',
    summary: 'What start-up seeding applied, left pending, and why',
    roles: ['policy_editor', 'compliance_officer', 'auditor', 'tenant_admin'],
    tx: 'one',
    uses: ['cursors'],
    query: closed(pageQuery),
    reply: [200, pageOf(Seed)],
  }).handle(async (input) => {
    const seeds = await paginate(input, 'listSeeds', ['subject', 'seed_hash'], (after, count) =>
      seeding.listSeedLedger(input.tx, after, count),
    )
    return { ...seeds, items: seeds.items.map((seed) => ({ ...seed, why: why[seed.outcome] })) }
  }),

  tenantRoute('GET /reference-data/operator-events', {
    id: 'listOperatorEvents',
    summary: 'What the operator did to shared lists and types, newest first, hash-chained',
    roles: everyone,
    tx: 'one',
    uses: ['cursors'],
    query: closed(pageQuery),
    reply: [200, pageOf(OperatorEvent)],
  }).handle(async (input) => {
    const events = await paginate(input, 'listOperatorEvents', ['seq'], (after, count) =>
      seeding.listOperatorEvents(input.tx, after, count),
    )
    return { ...events, items: events.items.map((event) => ({ ...event, detail: JSON.parse(event.detail) })) }
  }),
]
