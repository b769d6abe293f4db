/**
 * Suite 4: every free text, JSON and byte column of one tenant is filled with a token of its own; another tenant then calls
 * every operation, and neither an answer nor a log line may hold any of them.
 */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { modules } from '#app/modules.ts'
import { everyone } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { createLog } from '#kernel/log.ts'
import type { Module } from '#kernel/module.ts'
import type { Route } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import type { Example } from '../support/operation-fixture.ts'
import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'
import {
  connect,
  getExample,
  readTables,
  routes,
  selectIsolated,
  send,
  sendAs,
  type Table,
  tenantRoutes,
} from './support.ts'

const TOKEN = `cnry${randomBytes(5).toString('hex')}`

/** Columns that cannot hold the token, with the constraint that says so. */
const excludedColumns: Readonly<Record<string, string>> = {
  'api_key.state': 'api_key_state_ck',
  'audit_run.kind': 'audit_run_kind_ck',
  'batch_evaluation.source_kind': 'batch_evaluation_source_ck',
  'batch_evaluation.stage': 'batch_evaluation_stage_ck',
  'batch_item.band': 'batch_item_outcome_ck',
  'batch_item.change': 'batch_item_change_ck',
  'batch_item.document_hash': 'batch_item_outcome_ck',
  'batch_item.failure_code': 'batch_item_outcome_ck',
  'batch_item.state': 'batch_item_outcome_ck',
  'batch_schedule.filter': 'batch_schedule_filter_ck',
  'batch_schedule_run.detail': 'batch_schedule_run_outcome_ck',
  'batch_schedule_run.skipped': 'batch_schedule_run_outcome_ck',
  'break_glass_review.acknowledged_by': 'break_glass_review_acknowledged_ck',
  'break_glass_review.created_by': 'break_glass_review_person_ck',
  'break_glass_review.state': 'break_glass_review_state_ck',
  'change_approval.approved_by': 'change_approval_person_ck',
  'change_request.state': 'change_request_state_ck',
  'activation.hash': 'activation_hash_ck',
  'activation.kind': 'activation_kind_ck',
  'activation.layer': 'activation_layer_ck',
  'activation.prev_hash': 'activation_prev_hash_ck',
  'dataset.overlay_policy': 'dataset_overlay_policy_ck',
  'dataset.role': 'dataset_role_ck',
  'dataset.state': 'dataset_state_ck',
  'dataset_entry.op': 'dataset_entry_op_ck',
  'dataset_import.state': 'dataset_import_state_ck',
  'dataset_tree_block.pairs': 'dataset_tree_block_pairs_ck',
  'dataset_type.compatibility': 'dataset_type_compatibility_ck',
  'dataset_type.definition_hash': 'dataset_type_hash_ck',
  'resolution_receipt.manifest_hash': 'resolution_receipt_hash_ck',
  'retention_policy.classes': 'retention_policy_classes_ck',
  'dataset_version.content_hash': 'dataset_version_hash_ck',
  'dataset_version.origin': 'dataset_version_origin_ck',
  'dataset_version.state': 'dataset_version_state_ck',
  'evaluation.document_hash': 'evaluation_hash_ck',
  'evaluation.receipt_hash': 'evaluation_receipt_hash_ck',
  'impact_run.content_hash': 'impact_run_content_ck',
  'impact_run.manifest_hash': 'impact_run_manifest_ck',
  'impact_run.result': 'impact_run_finished_ck',
  'integrity_key.state': 'integrity_key_state_ck',
  'job.state': 'job_state_ck',
  'name_word.kind': 'name_word_object_ck',
  'name_word.object_id': 'name_word_object_ck',
  'rating.cause': 'rating_cause_ck',
  'rating.matrix_key': 'rating_matrix_ck',
  'rating.reason_code': 'rating_reason_code_ck',
  'subject.attributes': 'subject_attributes_ck',
  'subject.state': 'subject_state_ck',
  'subject.subject_type': 'subject_type_ck',
  'subject_bulk.format': 'subject_bulk_format_ck',
  'subject_version.attributes': 'subject_version_attributes_ck',
  'subject_version.state': 'subject_version_state_ck',
  'subject_version.subject_type': 'subject_version_type_ck',
  'tenant.state': 'tenant_state_ck',
  'tenant_limit.bucket': 'tenant_limit_bucket_ck',
  'upload.state': 'upload_state_ck',
  'user_account.origin': 'user_account_origin_ck',
  'user_account.state': 'user_account_state_ck',
}
/** Names that paths ask for, and the family that goes with them: with these filled, nothing could be asked for any more. */
const names = ['list_key', 'type_key', 'family']
/** Tables in which a tenant has no rows, with the constraint that says so. */
const excludedTables: Readonly<Record<string, string>> = {
  operator_event: 'operator_event_system_ck',
  seed_ledger: 'seed_ledger_system_ck',
  signing_key: 'signing_key_system_ck',
}

/** Reads of its own rows that do not show the token to its owner, with the reason. */
const corrupt = 'the stored content no longer fits its hash, and is not given out'
const blindReads: Readonly<Record<string, string>> = {
  diffBatchEvaluations: corrupt,
  diffDatasetVersions: corrupt,
  diffRiskMatrixVersions: corrupt,
  diffRuleVersions: corrupt,
  exportDatasetVersion: corrupt,
  getAdapter: 'part of the program',
  getAuditExportContent: 'the stored bytes no longer fit their digest, so the download is broken off',
  getBatchItemExplanation: corrupt,
  getBatchSummary: 'counts bands and faults, which cannot be filled',
  getCertificate: corrupt,
  getDatasetVersion: corrupt,
  getEvaluation: corrupt,
  getEvaluationExplanation: corrupt,
  getEvaluationInputs: corrupt,
  getEvaluationPack: corrupt,
  getExportContent: 'the stored bytes no longer fit their digest, so the download is broken off',
  getOverlay: corrupt,
  getProof: corrupt,
  getReceipt: corrupt,
  getRiskMatrixCoverage: corrupt,
  getRuleCoverage: corrupt,
  getRulePerformance: 'has no free text',
  getSubjectCount: 'a number',
  listAuditObjectEvents: 'what names the object is filled too',
  listBreakGlassInbox: 'the role that may acknowledge is filled too, and nobody holds a role of that name',
  listChangeRequestGates: 'the gates of a governed operation; the filled request names none',
  listChangeRequestInbox: 'the role that may decide is filled too, and nobody holds a role of that name',
  listConfigurationAsOf: 'names what is in force; statements about it cannot be altered',
  listDatasetEntries: corrupt,
  listDependents: 'has no free text',
  listOperatorEvents: 'shared by all tenants',
  listRiskMatrixDependencies: 'has no free text',
  listRuleDependencies: 'has no free text',
  listSeeds: 'shared by all tenants',
  listTypologies: 'has no free text',
  resolveEntry: corrupt,
}

let w: TestApp
let superuser: pg.Client
let tables: Table[]
let owner: ExampleTenant
let other: ExampleTenant
const ownersExamples = new Map<Route, Example>()
const refusals = new Map<string, string>()
const filled: string[] = []

/**
 * How a column takes the token `$2`, made different in each row `n`; the first way that the column accepts. Narrow types
 * wait, because replies declare their shape.
 */
const fillings: Readonly<Record<string, { readonly narrow: boolean; readonly values: readonly string[] }>> = {
  text: { narrow: false, values: [`$2 || '-' || n`, `json_build_object('canary', $2 || '-' || n)::text`] },
  bytea: { narrow: false, values: [`convert_to($2 || '-' || n, 'UTF8')`] },
  'text[]': { narrow: true, values: [`array[$2 || '-' || n]`] },
  jsonb: { narrow: true, values: [`jsonb_build_array(jsonb_build_object('canary', $2 || '-' || n))`] },
}

/** Constraint violation, or a cast inside a constraint. */
const REFUSALS = ['23514', '22P02']

async function fillColumn(table: Table, name: string, values: readonly string[], token: string): Promise<void> {
  for (const value of values) {
    await superuser.query('savepoint filling')
    try {
      const { rowCount } = await superuser.query(
        `update app.${table.name} t set "${name}" = ${value}
           from (select ctid as place, row_number() over () as n from app.${table.name} where tenant_id = $1) row
          where t.ctid = row.place`,
        [owner.tenant_id, token],
      )
      if (rowCount) filled.push(`${table.name}.${name}`)
      refusals.delete(`${table.name}.${name}`)
      return
    } catch (error) {
      const { code = '', constraint = code } = error as { code?: string; constraint?: string }
      if (!REFUSALS.includes(code)) throw error
      if (!refusals.has(`${table.name}.${name}`)) refusals.set(`${table.name}.${name}`, constraint)
      await superuser.query('rollback to savepoint filling')
    }
  }
}

async function fill(narrow: boolean): Promise<void> {
  await superuser.query('begin')
  // As a restored dump would be: no triggers, no foreign keys; constraints still hold.
  await superuser.query('set local session_replication_role = replica')
  for (const table of tables) {
    for (const [index, { name, type }] of table.columns.entries()) {
      const filling = fillings[type]
      if (filling?.narrow === narrow && !names.includes(name))
        await fillColumn(table, name, filling.values, `${TOKEN}-${index}`)
    }
  }
  await superuser.query('commit')
}

/** Mistakes a handler could make: PostgreSQL quotes the row in one error and the value in the other. */
const faulty: Module = {
  name: 'faulty',
  segments: ['faults'],
  tier: 'views',
  summary: 'Fails on purpose.',
  jobs: [],
  canary: async () => {},
  routes: [
    `update app.user_account set origin = 'none' where tenant_id = $1`,
    'select name::bigint from app.user_account where tenant_id = $1',
  ].map((sql, number) =>
    tenantRoute(`POST /faults/${number}`, {
      id: `makeFault${number}`,
      summary: 'Fails in the database',
      roles: everyone,
      tx: 'write',
      reply: [204, null],
    }).handle(async ({ tx }) => {
      await tx.run(sql, [tx.tenant_id])
      return undefined
    }),
  ),
}

/** The real log, into a file, as a process writes it. */
const logFile = path.join(os.tmpdir(), `canary-${TOKEN}.log`)
const log = createLog({ level: 'trace', destination: logFile, name: 'canary' })
async function readLog(): Promise<string> {
  // Written behind our back, but in order: once the marker is there, so is everything before it.
  const marker = uuidv7()
  log.info(marker)
  const arrived = () => {
    const text = fs.readFileSync(logFile, 'utf8')
    return text.includes(marker) && text
  }
  return vi.waitUntil(arrived, { timeout: 60_000, interval: 5 })
}

async function emptyLog(): Promise<void> {
  await readLog()
  fs.truncateSync(logFile)
}

beforeAll(async () => {
  w = await startTestApp({ log, modules: [...modules, faulty] })
  superuser = await connect(w.clone.postgres)
  tables = selectIsolated(await readTables(superuser))
  ;[owner, other] = await Promise.all([ExampleTenant.create(w), ExampleTenant.create(w)])
  await owner.insertCanaryRows()
  for (const route of tenantRoutes) ownersExamples.set(route, await getExample(route, owner))
  await fill(false)
})
afterAll(async () => {
  await superuser.end()
  await w.close()
  fs.rmSync(logFile, { force: true })
})

const answer = (reply: Reply): string => `${JSON.stringify(reply.headers)}\n${reply.text}`
const exampleOfOwner = (route: Route): Example => ownersExamples.get(route) as Example

describe('the canary of a tenant', () => {
  test('is in every read that the owner makes of its own rows', async () => {
    const reads = tenantRoutes.filter(
      ({ method, tx, path }) => method === 'GET' && (tx === 'one' || tx === 'read' || path.includes(':')),
    )
    expect(reads.length).toBeGreaterThan(10)
    const blind: string[] = []
    for (const route of reads) {
      const reply = await send(owner, route, exampleOfOwner(route)).catch(() => undefined)
      if (!reply || !answer(reply).includes(TOKEN)) blind.push(route.id)
      if (reply && !(route.id in blindReads)) expect.soft([route.id, reply.status]).toEqual([route.id, 200])
    }
    expect(blind.sort()).toEqual(Object.keys(blindReads).sort())
  })

  test('fills every column that can hold text; the exceptions are listed', async () => {
    await fill(true)
    expect(Object.fromEntries(refusals)).toEqual(excludedColumns)
    const empty: string[] = []
    for (const { name } of tables) {
      const { rowCount } = await superuser.query(`select 1 from app.${name} where tenant_id = $1`, [owner.tenant_id])
      if (rowCount === 0) empty.push(name)
    }
    expect(empty).toEqual(Object.keys(excludedTables))
    expect(filled.length).toBeGreaterThan(60)
  })
})

describe('another tenant', () => {
  const leaks: string[] = []
  /** The token, or the owner's id: only the owner may ever receive either. */
  const look = (where: string, text: string) => {
    for (const needle of [TOKEN, owner.tenant_id]) if (text.includes(needle)) leaks.push(`${where}: ${needle}`)
  }

  test('gets it in no answer of any operation', async () => {
    await emptyLog()
    for (const route of routes) {
      const example = await getExample(route, other)
      const reply =
        route.access === 'public' ? await sendAs(w, undefined, route, example) : await send(other, route, example)
      expect([route.id, reply.status]).toEqual([route.id, route.reply[0]])
      look(route.id, answer(reply))
    }
    expect(leaks).toEqual([])
  })

  test("gets it in no answer to the owner's identifiers", async () => {
    for (const route of tenantRoutes) {
      const reply = await send(other, route, { ...exampleOfOwner(route), principal: other.caller })
      if (route.problems.includes('not_found') && exampleOfOwner(route).params && !exampleOfOwner(route).shared)
        expect([route.id, reply.status]).toEqual([route.id, 404])
      look(route.id, answer(reply))
    }
    expect(leaks).toEqual([])
  })

  test('gets it from no job that a worker runs', async () => {
    const runner = w.runtime.createRunner(1)
    runner.start()
    const job_id = await other.newJob()
    const token = await other.token()
    let state = 'queued'
    for (let i = 0; i < 10 && ['queued', 'running'].includes(state); i++) {
      const reply = await w.call(`GET /jobs/${job_id}?wait=5`, { token })
      look('job', answer(reply))
      state = reply.json.state
    }
    await runner.stop(5000)
    expect(state).toBe('succeeded')
    expect(leaks).toEqual([])
  })

  test('writes nothing of it to the log', async () => {
    const text = await readLog()
    expect(text.split('\n').length).toBeGreaterThan(routes.length)
    look('log', text)
    expect(leaks).toEqual([])
  })
})

describe('the owner', () => {
  test('writes nothing of its data to the log with any operation', async () => {
    await emptyLog()
    for (const route of tenantRoutes) await send(owner, route, exampleOfOwner(route)).catch(() => {})
    const text = await readLog()
    expect(text.split('\n').length).toBeGreaterThan(tenantRoutes.length)
    expect(text.split('\n').filter((line) => line.includes(TOKEN))).toEqual([])
  })

  test('gets nothing of it in the answer to a failure, and neither does the log', async () => {
    await emptyLog()
    for (const route of faulty.routes) {
      const reply = await send(owner, route, {})
      expect(reply.status).toBe(500)
      expect(answer(reply)).not.toContain(TOKEN)
    }
    const text = await readLog()
    expect(text).toContain('internal error')
    expect(text.split('\n').filter((line) => line.includes(TOKEN))).toEqual([])
  })
})
