/** One act on many alerts. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { fail } from '#kernel/problem.ts'
import { BulkRequest, BulkResult } from '../schema.ts'
import { bindAct, performBulk } from './bulk.ts'
import { ALERT_BULK, bulkRoles } from './jobs.ts'

/** Above this a job does it. */
const MAX_AT_ONCE = 200

export const bulkRoutes = [
  tenantRoute('POST /alerts/bulk', {
    id: 'updateAlerts',
    summary: 'Do the same with many alerts; each is done or refused for itself',
    description:
      'Up to 200 alerts are done at once (200); for more a job is started (202), whose result lists what was refused and why, by its position in alert_ids. ' +
      'A refused alert is unchanged. dry_run only says which rule each alert would break. Restricted alerts are refused: they are worked on alone, ' +
      'and a job, whose result others read, says of them what it says of an alert that does not exist. A job does nothing for whoever is no longer ' +
      'active or has lost the role, and refuses what is left with `author_not_permitted`.',
    roles: bulkRoles,
    tx: 'write',
    uses: ['auditKeys', 'caches', 'encryption', 'jobs', 'modules'],
    body: BulkRequest,
    reply: [200, BulkResult],
    alternateStatus: { status: 202, when: ({ job_id }) => job_id !== null },
    headers: ({ job_id }): Record<string, string> => (job_id === null ? {} : { location: `/api/jobs/${job_id}` }),
    // not_found: a repeated request, after one of the alerts was restricted.
    problems: ['not_found', 'conflict', 'concurrency_limited', 'content_corrupt'],
  }).handle(async ({ tx, body, actor, kernel, request, audit }) => {
    const { dry_run = false, ...asked } = body
    const caller = {
      principal: actor.principal,
      may_release_others: actor.roles.includes('compliance_officer'),
      request_id: request.id,
    }
    bindAct(asked, caller)
    if (body.alert_ids.length > MAX_AT_ONCE) {
      if (dry_run) fail('conflict', `A dry run looks at no more than ${MAX_AT_ONCE} alerts.`)
      const { principal, may_release_others } = caller
      const payload = { ...asked, principal, may_release_others }
      const { job_id } = await kernel.jobs.enqueue(tx, {
        kind: ALERT_BULK,
        payload,
        total: asked.alert_ids.length,
        unit: 'alerts',
      })
      return { job_id, done: 0, refused: 0, items: [] }
    }
    const performed = await performBulk(kernel, tx, { ...asked, dry_run }, caller)
    audit.names(performed)
    const items = performed.map(({ restriction_id: _, ...item }) => item)
    const done = items.filter((item) => item.done).length
    return { job_id: null, done, refused: items.length - done, items }
  }),
]
