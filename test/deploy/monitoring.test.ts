/** Alerts, dashboard and the documents about them name metrics that exist. */
import { afterAll, describe, expect, inject, test } from 'vitest'
import { createRuntime } from '#app/runtime.ts'
import { createKeyring } from '#kernel/encryption/keyring.ts'
import { deriveIntegrityKeys } from '#kernel/integrity/keys.ts'
import { createSilentLog } from '#kernel/log.ts'
import { alarmReasons } from '#kernel/metrics.ts'
import { TEST_MASTER_KEY } from '../support/database.ts'
import { createQueryChecker } from '../support/metric-queries.ts'
import { type Manifest, parseYaml, paths, readProjectFile } from './deploy-files.ts'

describe('metrics', async () => {
  const keyring = createKeyring(TEST_MASTER_KEY)
  const runtime = await createRuntime({
    connections: { app: inject('connections').app, worker: inject('connections').worker },
    keyring,
    // The template is cloned by others: nobody may be connected to it.
    integrity: deriveIntegrityKeys(keyring),
    build: { version: '0', commit: null, node: process.version, schema_version: '0000' },
    log: createSilentLog(),
    issuers: [],
    public_url: null,
    cors_origins: [],
    trusted_proxies: 0,
    pool_size: 2,
    prepared_statements: true,
    statement_timeout_ms: 1000,
    upload_max_bytes: 1024,
    strict: true,
  })
  afterAll(() => runtime.close())

  const { faultsOf, labels } = createQueryChecker(runtime.metrics.registry, paths)

  test('the check of queries notices wrong names, labels and routes', async () => {
    expect(
      await faultsOf('sum by (kind) (rate(probity_job_run_duration_seconds_count{outcome="failed"}[5m])) > 0'),
    ).toEqual([])
    expect(await faultsOf('rate(probity_jobs_total[5m])')).toEqual(['probity_jobs_total'])
    expect(await faultsOf('probity_alarms_total{tenant="x"}')).toEqual(['probity_alarms_total{tenant}'])
    expect(await faultsOf('sum by (tenant) (up)')).toEqual(['tenant'])
    expect(await faultsOf('rate(http_server_request_duration_seconds_count{http_route="/api/nowhere"}[5m])')).toEqual([
      'http_route /api/nowhere',
    ])
  })

  test('those in the alerts exist, and every alert says in docs/operations.md what to do', async () => {
    const [document] = parseYaml('deploy/prometheus/alerts.yaml')
    const rules = document.groups.flatMap(({ rules }: Manifest) => rules)
    expect(rules.length).toBeGreaterThan(10)
    for (const { alert, expr, labels, annotations } of rules) {
      expect(await faultsOf(expr), alert).toEqual([])
      expect(labels.severity).toMatch(/^(critical|warning|info)$/)
      expect(annotations.summary).toBeTruthy()
    }
    for (const reason of alarmReasons) {
      expect(
        rules.some(({ expr }: Manifest) => expr.includes(`probity_alarms_total{reason="${reason}"}`)),
        reason,
      ).toBe(true)
    }
    // Names that other programs give to their metrics too: theirs must not alert here.
    const shared = /(?<!,)\b(?:up|(?:http|nodejs|process)_\w+)\b(?!\{job=~"\.\*probity\.\*"[,}])/
    for (const { alert, expr } of rules) expect(shared.exec(expr)?.[0], alert).toBeUndefined()
    const listed = [...readProjectFile('docs/operations.md').matchAll(/^\| (Probity\w+) \|/gm)].map(([, name]) => name)
    expect(listed).toEqual(rules.map(({ alert }: Manifest) => alert))
  })

  test('those on the dashboard exist', async () => {
    const { panels, annotations } = JSON.parse(readProjectFile('deploy/grafana/dashboard.json'))
    const targets = [...panels.flatMap((panel: Manifest) => panel.targets), ...annotations.list]
    expect(targets.length).toBeGreaterThan(15)
    for (const { expr } of targets) expect(await faultsOf(expr), expr).toEqual([])
    expect(new Set(panels.map(({ id }: Manifest) => id)).size).toBe(panels.length)
  })

  test('those in docs/operations.md exist', async () => {
    const section = readProjectFile('docs/operations.md').split('\n## Monitoring\n')[1]?.split('\n## ')[0] ?? ''
    const known = (await runtime.metrics.registry.getMetricsAsJSON()).map(({ name }) => name)
    const listed = [...section.matchAll(/`((?:http|probity|nodejs|process)_[a-z0-9_]+)`/g)].map(
      ([, name]) => name as string,
    )
    const known_labels = await labels()
    expect(listed.filter((name) => !known.includes(name) && !known_labels.has(name))).toEqual([])
    expect(known.filter((name) => /^(http|probity)_/.test(name) && !listed.includes(name))).toEqual([])
  })
})
