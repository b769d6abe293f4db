/** What became of the cases of a playbook. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { Count, closed, nullable, Slug, Timestamp, Type, text } from '#kernel/schema.ts'
import { loadPlaybook } from '#modules/playbooks/index.ts'
import { countCases, countOutcomes, countStepsByPlaybook } from './queries.ts'

const Duration = nullable(Type.Number({ minimum: 0, description: 'Null where nothing has ended.' }))

const PlaybookStatistics = closed(
  {
    playbook_key: text(100),
    since: nullable(Timestamp()),
    cases: closed({
      opened: Count,
      open: Count,
      proposed: Count,
      closed: Count,
      merged: Count,
      ended: Count,
      blocked: Count,
      reopened: Count,
      median_hours_to_close: Duration,
      slow_hours_to_close: nullable(Type.Number({ minimum: 0, description: 'Nine of ten cases were closed earlier.' })),
    }),
    outcomes: Type.Array(closed({ outcome: text(60), cases: Count })),
    steps: Type.Array(
      closed({
        step_key: text(100),
        kind: text(100),
        runs: Count,
        succeeded: Count,
        failed: Count,
        indeterminate: Count,
        skipped: Count,
        waived: Count,
        attempts: Count,
        median_seconds: Duration,
        reused: Count,
      }),
    ),
  },
  { title: 'PlaybookStatistics' },
)

export const statisticsRoutes = [
  tenantRoute('GET /playbooks/:playbook_key/statistics', {
    id: 'getPlaybookStatistics',
    summary: 'What became of the investigations of a playbook, and how its steps did',
    description: 'Restricted investigations count only for people who may see them.',
    roles: ['compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['caches'],
    params: closed({ playbook_key: Slug() }),
    query: closed({ since: Type.Optional(Timestamp({ description: 'Only cases that were opened from then on.' })) }),
    reply: [200, PlaybookStatistics],
    problems: ['not_found', 'nothing_in_force', 'content_corrupt'],
  }).handle(async ({ tx, params, query, kernel }) => {
    const { playbook_key } = params
    const { since = null } = query
    await loadPlaybook(kernel, tx, playbook_key)
    return {
      playbook_key,
      since,
      cases: await countCases(tx, playbook_key, since),
      outcomes: await countOutcomes(tx, playbook_key, since),
      steps: await countStepsByPlaybook(tx, playbook_key, since),
    }
  }),
]
